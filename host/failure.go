package host

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Failure describes how a turn failed.
type Failure struct {
	Kind string // such as RateLimited
	Text string // the host's message
}

// The kinds of a [Failure].
const (
	RateLimited     = vocab.RateLimited
	Auth            = vocab.Auth
	Billing         = vocab.Billing
	TurnLimit       = vocab.TurnLimit
	ContextOverflow = vocab.ContextOverflow
	OverBudget      = vocab.OverBudget
	Timeout         = vocab.Timeout
	Crashed         = vocab.Crashed // any other failure of a request or of the agent
	Interrupted     = vocab.Interrupted
)

// Failed returns the failure of the current turn, or nil. A turn failed if the session ends in a failed request, in a
// context that grew too large, or in an interruption. A failure does not count if the agent said or did something after
// it.
func (s *Session) Failed() *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.current() {
		switch {
		case e.failed != nil:
			return e.failed
		case e.kind == assistant, e.kind == result:
			return nil
		}
	}
	return nil
}

// FailureOf returns the failure for a code, such as rate_limit, and a message, as Claude Code and hosts with its format
// send them.
func FailureOf(code, text string) *Failure {
	f := &Failure{Text: text, Kind: Crashed}
	switch code {
	case "rate_limit":
		f.Kind = RateLimited
	case "authentication_failed", "oauth_org_not_allowed":
		f.Kind = Auth
	case "billing_error":
		f.Kind = Billing
	case "aborted": // Cursor's
		f.Kind = Interrupted
	default:
		if strings.HasPrefix(strings.ToLower(text), "prompt is too long") {
			f.Kind = ContextOverflow
			break
		}
		f.Kind = kindOfStatus(statusIn(text))
	}
	return f
}

// overflows reports whether an error code of a service means that the context is too large.
func overflows(code string) bool {
	return code == "context_length_exceeded" || code == "model_max_prompt_tokens_exceeded"
}

func kindOfStatus(status int) string {
	switch status {
	case 401, 403:
		return Auth
	case 402:
		return Billing
	case 408, 504:
		return Timeout
	case 413:
		return ContextOverflow
	case 429:
		return RateLimited
	}
	return Crashed
}

// statusIn returns the HTTP status in the message of an error record, in the forms that hosts write; 0 if it has none.
func statusIn(text string) int {
	for _, before := range []string{"API Error: ", "unexpected status ", "last status: ", `"code":`} {
		_, after, ok := strings.Cut(text, before)
		if after = strings.TrimSpace(after); !ok || len(after) < 3 || len(after) > 3 && after[3] >= '0' && after[3] <= '9' {
			continue
		}
		if status := jsontext.Value(after[:3]).Int(); status >= 400 {
			return status
		}
	}
	return 0
}
