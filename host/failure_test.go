package host_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// Each host writes in its own way how a turn failed. What the agent does after a failure makes up for it.
func TestFailed(t *testing.T) {
	apiError := func(code, text string) string {
		return `{"type":"assistant","isApiErrorMessage":true,"error":"` + code + `","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"` + text + `"}]}}`
	}
	const (
		codexUser   = `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`
		codexAgent  = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}`
		geminiUser  = `{"id":"1","type":"user","content":"go"}`
		geminiAgent = `{"id":"2","type":"gemini","content":"Done."}`
		qwenUser    = `{"type":"user","message":{"role":"user","parts":[{"text":"go"}]}}`
		qwenAgent   = `{"type":"assistant","message":{"role":"model","parts":[{"text":"Done."}]}}`
		copilotUser = `{"type":"user.message","data":{"content":"go"}}`
		copilotSays = `{"type":"assistant.message","data":{"content":"Done."}}`
	)
	codexEvent := func(payload string) string { return `{"type":"event_msg","payload":` + payload + `}` }
	qwenError := func(fields string) string {
		return `{"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error",` + fields + `}}}`
	}
	failed := func(kind, text string) *host.Failure { return &host.Failure{Kind: kind, Text: text} }
	for _, c := range []struct {
		name  string
		lines []string
		want  *host.Failure
	}{
		{"nothing failed", []string{userSays("go"), agentSays("Done.")}, nil},
		{"the agent quotes an error", []string{userSays("go"), agentSays("API Error: 429")}, nil},
		{"claude: rate limit", []string{userSays("go"), agentSays("I begin."), apiError("rate_limit", "Limit reached")}, failed("rate_limited", "Limit reached")},
		{"claude: auth", []string{userSays("go"), apiError("authentication_failed", "Invalid API key")}, failed("auth", "Invalid API key")},
		{"claude: billing", []string{userSays("go"), apiError("billing_error", "Credit balance is too low")}, failed("billing", "Credit balance is too low")},
		{"claude: overflow", []string{userSays("go"), apiError("invalid_request", "Prompt is too long")}, failed("context_overflow", "Prompt is too long")},
		{"claude: a status in the text", []string{userSays("go"), apiError("unknown", "API Error: 529 overloaded")}, failed("crashed", "API Error: 529 overloaded")},
		{"claude: an older version without a code", []string{userSays("go"), apiError("", "API Error: 429 slow down")}, failed("rate_limited", "API Error: 429 slow down")},
		{"claude: interrupted", []string{userSays("go"), agentSays("I begin."), userSays("[Request interrupted by user]")}, failed("interrupted", "[Request interrupted by user]")},
		{"claude: interrupted in a tool", []string{userSays("go"), agentUses("t", "Bash", `{}`), toolSays("t", "rejected", true),
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`}, failed("interrupted", "[Request interrupted by user for tool use]")},
		{"claude: a user who quotes it", []string{userSays("What is [Request interrupted by user]?")}, nil},
		{"claude: the agent went on", []string{userSays("go"), apiError("server_error", "API Error: 500"), agentSays("Done.")}, nil},
		{"claude: a tool ran after it", []string{userSays("go"), agentUses("t", "Bash", `{}`), apiError("server_error", "API Error: 500"), toolSays("t", "ok", false)}, nil},
		{"claude: another turn failed", []string{userSays("go"), apiError("rate_limit", "Limit"), userSays("again")}, nil},

		{"codex: aborted", []string{codexUser, codexAgent, codexEvent(`{"type":"turn_aborted","reason":"interrupted"}`)}, failed("interrupted", "interrupted")},
		{"codex: budget", []string{codexUser, codexEvent(`{"type":"turn_aborted","reason":"budget_limited"}`)}, failed("budget", "budget_limited")},
		{"codex: overflow", []string{codexUser, codexEvent(`{"type":"error","message":"too long","codex_error_info":"context_window_exceeded"}`)}, failed("context_overflow", "too long")},
		{"codex: a status in the record", []string{codexUser, codexEvent(`{"type":"error","message":"m","codex_error_info":{"http_connection_failed":{"http_status_code":401}}}`)}, failed("auth", "m")},
		{"codex: a status in the text", []string{codexUser, codexEvent(`{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}`)}, failed("rate_limited", "exceeded retry limit, last status: 429 Too Many Requests")},
		{"codex: the turn ends with an error", []string{codexUser, codexEvent(`{"type":"task_complete","last_agent_message":null,"error":{"message":"slow down","codex_error_info":"usage_limit_exceeded"}}`)}, failed("rate_limited", "slow down")},
		{"codex: the turn ends", []string{codexUser, codexAgent, codexEvent(`{"type":"task_complete","last_agent_message":"Done.","error":null}`)}, nil},
		{"codex: it went on", []string{codexUser, codexEvent(`{"type":"stream_error","message":"m"}`), codexAgent}, nil},

		{"gemini: error", []string{geminiUser, geminiAgent, `{"id":"3","type":"error","content":"[API Error: 429 quota]"}`}, failed("rate_limited", "[API Error: 429 quota]")},
		{"gemini: error in JSON", []string{geminiUser, `{"id":"3","type":"error","content":"[API Error: {\"error\":{\"code\":403}}]"}`}, failed("auth", `[API Error: {"error":{"code":403}}]`)},
		{"gemini: cancelled", []string{geminiUser, `{"id":"3","type":"info","content":"Request cancelled."}`}, failed("interrupted", "Request cancelled.")},
		{"gemini: other news", []string{geminiUser, `{"id":"3","type":"info","content":"Update available"}`}, nil},

		{"qwen: error", []string{qwenUser, qwenAgent, qwenError(`"status_code":429,"error_message":"slow down","prompt_id":"s########0"`)}, failed("rate_limited", "slow down")},
		{"qwen: a status as a text", []string{qwenUser, qwenError(`"status_code":"401","error_message":"m"`)}, failed("auth", "m")},
		{"qwen: a subagent", []string{qwenUser, qwenAgent, qwenError(`"status_code":429,"subagent_name":"x"`)}, nil},
		{"qwen: a request of the host", []string{qwenUser, qwenAgent, qwenError(`"status_code":429,"prompt_id":"session-title"`)}, nil},
		{"qwen: tried again", []string{qwenUser, qwenError(`"status_code":429`), qwenAgent}, nil},

		{"copilot: error", []string{copilotUser, copilotSays, `{"type":"session.error","data":{"errorType":"rate_limit","message":"m","statusCode":429}}`}, failed("rate_limited", "m")},
		{"copilot: overflow", []string{copilotUser, `{"type":"session.error","data":{"errorType":"context_limit","message":"m"}}`}, failed("context_overflow", "m")},
		{"copilot: a status alone", []string{copilotUser, `{"type":"session.error","data":{"errorType":"query","message":"m","statusCode":504}}`}, failed("timeout", "m")},
		{"copilot: abort", []string{copilotUser, copilotSays, `{"type":"abort","data":{"reason":"user_initiated"}}`}, failed("interrupted", "user_initiated")},
		{"copilot: a subagent's", []string{copilotUser, copilotSays, `{"type":"model.call_failure","data":{"parentToolCallId":"t","statusCode":429}}`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, session(t, c.lines...).Failed()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInterruptionIsNoTurn(t *testing.T) {
	s := session(t, userSays("go"), agentSays("I begin."), userSays("[Request interrupted by user]"))
	want := []host.Turn{{Role: "user", Text: "go"}, {Role: "assistant", Text: "I begin."}}
	if diff := cmp.Diff(want, s.Turns(5)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
