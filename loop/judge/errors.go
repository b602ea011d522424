package judge

// Kind is why there is no answer.
type Kind string

// The kinds of errors.
const (
	NoKey       Kind = "no-key"      // the service needs a key, and there is none
	BadRequest  Kind = "request"     // the request is invalid; a retry does not help
	Unreachable Kind = "unreachable" // the connection failed or broke
	Timeout     Kind = "timeout"     // the context ended first
	BadStatus   Kind = "status"      // an error response, or a redirect
	BadAnswer   Kind = "format"      // the answer is not one JSON object
)

// Error is the error of [Ask]. Its message has neither the key nor the conversation, but at most a line from the
// service.
type Error struct {
	Kind    Kind
	Status  int    // the HTTP status, for BadStatus
	Message string // one line
	Err     error  // the cause; may be nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// passing reports whether a retry may help.
func (e *Error) passing() bool {
	switch e.Kind {
	case Unreachable:
		return true
	case BadStatus:
		return e.Status == 429 || e.Status == 503 || e.Status == 529
	}
	return false
}
