package judge

// Kind says why there is no answer.
type Kind string

// The kinds of errors.
const (
	NoKey       Kind = "no-key"      // the service wants a key and there is none
	BadRequest  Kind = "request"     // the question cannot be asked like this; asking again changes nothing
	Unreachable Kind = "unreachable" // no connection, or it broke
	Timeout     Kind = "timeout"     // the context ended first
	BadStatus   Kind = "status"      // the service answered with an error, or sends one elsewhere
	BadAnswer   Kind = "format"      // the answer is not one JSON object
)

// Error says why there is no answer. Its message holds neither the key nor the conversation, but at most a line of
// what the service said.
type Error struct {
	Kind    Kind
	Status  int    // of HTTP, for BadStatus
	Message string // one line
	Err     error  // what it comes from; may be nil
}

// Error gives the message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives what the error comes from.
func (e *Error) Unwrap() error { return e.Err }

// passing reports whether asking again may help.
func (e *Error) passing() bool {
	switch e.Kind {
	case Unreachable:
		return true
	case BadStatus:
		return e.Status == 429 || e.Status == 503 || e.Status == 529
	}
	return false
}
