package host

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// qwen follows Claude Code closely; it has crons for session_crons, and says how full the context is.
func qwen() *Host {
	return &Host{
		Name: Qwen,
		recognise: func(in object) bool {
			return in.has("crons") || in.has("context_limit") || in.has("context_usage") || in.within(".qwen") ||
				strings.Contains(in.text("prompt_id"), "########")
		},
		dialect: withContext(UserPromptSubmit),
	}
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
