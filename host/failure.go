package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Failure says how a turn failed.
type Failure struct {
	Kind string // one of Kinds
	Text string // what the host wrote about it
}

// The kinds of a [Failure].
const (
	RateLimited     = "rate_limited"
	Auth            = "auth"
	Billing         = "billing"
	TurnLimit       = "turn_limit"
	ContextOverflow = "context_overflow"
	OverBudget      = "budget"
	Timeout         = "timeout"
	Crashed         = "crashed" // every other failure of a request or of the agent
	Interrupted     = "interrupted"
)

// FailureKinds lists the kinds of failures.
func FailureKinds() []string {
	return []string{RateLimited, Auth, Billing, TurnLimit, ContextOverflow, OverBudget, Timeout, Crashed, Interrupted}
}

// Failed says how the current turn failed, if the session ends in a failed request, in a context that grew too large, or
// in an interruption; else it is nil. What the agent said or did after a failure makes up for it.
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

// FailureOf gives the failure that Claude Code and the hosts that follow it name by a code, such as rate_limit, and a text.
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

// interruption reports whether a text of a user record says that the user interrupted the agent.
func interruption(text string) bool {
	return text == "[Request interrupted by user]" || text == "[Request interrupted by user for tool use]"
}

// codexFailure reads an event of Codex: an aborted turn, the end of one that failed, or an error.
func codexFailure(typ string, payload jsontext.Value) *Failure {
	switch typ {
	case "turn_aborted":
		f := &Failure{Kind: Interrupted, Text: payload.Field("reason").Text()}
		if f.Text == "budget_limited" {
			f.Kind = OverBudget
		}
		return f
	case "task_complete":
		if payload = payload.Field("error"); !payload.There() {
			return nil
		}
	case "error", "stream_error":
	default:
		return nil
	}
	f := &Failure{Text: payload.Field("message").Text(), Kind: Crashed}
	info := payload.Field("codex_error_info")
	code := info.Text()
	status := 0
	for c := info.Members(); c.Next(); {
		code = string(c.Key)
		status = c.Value.Field("http_status_code").Int()
	}
	switch code {
	case "context_window_exceeded":
		f.Kind = ContextOverflow
	case "usage_limit_exceeded":
		f.Kind = RateLimited
	case "unauthorized":
		f.Kind = Auth
	default:
		if status == 0 {
			status = statusIn(f.Text)
		}
		f.Kind = kindOfStatus(status)
	}
	return f
}

// qwenFailure reads what Qwen Code notes of a failed request of the agent itself.
func (r *record) qwenFailure() *Failure {
	if r.subtype != "ui_telemetry" {
		return nil
	}
	event := r.systemPayload.Field("uiEvent")
	if event.Field("event.name").Text() != "qwen-code.api_error" || event.Field("subagent_name").Text() != "" {
		return nil
	}
	if prompt := event.Field("prompt_id").Text(); prompt != "" && !strings.Contains(prompt, "########") {
		return nil // a request of the host's own, such as one for a title
	}
	f := &Failure{Text: event.Field("error_message").Text()}
	status := event.Field("status_code")
	if s, ok := status.Decode(); ok {
		status = jsontext.Value(s)
	}
	if f.Kind = kindOfStatus(status.Int()); overflows(event.Field("error_type").Text()) {
		f.Kind = ContextOverflow
	}
	return f
}

// geminiFailure reads a record that Gemini CLI shows to the user.
func geminiFailure(typ, text string) *Failure {
	switch {
	case typ == "error":
		return &Failure{Kind: kindOfStatus(statusIn(text)), Text: text}
	case typ == "info" && text == "Request cancelled.":
		return &Failure{Kind: Interrupted, Text: text}
	}
	return nil
}

// copilotFailure reads an event of Copilot CLI.
func copilotFailure(typ string, data jsontext.Value) *Failure {
	switch typ {
	case "abort":
		return &Failure{Kind: Interrupted, Text: data.Field("reason").Text()}
	case "session.error", "model.call_failure":
	default:
		return nil
	}
	f := &Failure{Text: data.Field("message").Text()}
	if f.Text == "" {
		f.Text = data.Field("errorMessage").Text()
	}
	switch kind := data.Field("errorType").Text(); {
	case kind == "authentication", kind == "authorization":
		f.Kind = Auth
	case kind == "quota":
		f.Kind = Billing
	case kind == "rate_limit":
		f.Kind = RateLimited
	case kind == "context_limit", overflows(data.Field("errorCode").Text()):
		f.Kind = ContextOverflow
	default:
		f.Kind = kindOfStatus(data.Field("statusCode").Int())
	}
	return f
}

// overflows reports whether a code of a service says that the context is too large.
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

// statusIn finds the HTTP status in the forms in which hosts write it into the text of an error record; 0 if there is none.
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

// firstText is the first of the texts without white space around it.
func firstText(texts []string) string {
	if i := slices.IndexFunc(texts, func(s string) bool { return strings.TrimSpace(s) != "" }); i >= 0 {
		return strings.TrimSpace(texts[i])
	}
	return ""
}
