package host_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
)

// The user's prompt is found before any number of continuations.
func TestPrompt(t *testing.T) {
	codex := func(text string) string {
		return line(m{"type": "response_item", "payload": m{"type": "message", "role": "user", "content": []any{m{"type": "input_text", "text": text}}}})
	}
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"prompt", []string{user("fix it"), agent("done")}, "fix it"},
		{"continuations", []string{user("old"), user("fix it, and do not stop"), agent("done"), feedback("go on"), agent("more"), result("x"), feedback("go on"), agent("more")}, "fix it, and do not stop"},
		{"far away", []string{user("fix it"), feedback("go on"), strings.Repeat(agent(strings.Repeat("a", 1000)), 500)}, "fix it"},
		{"what the host says", []string{user("fix it"), meta("a reminder"), user("<local-command-stdout>x</local-command-stdout>")}, "fix it"},
		{"codex", []string{codex("fix it"), codex("<hook_prompt hook_run_id=\"1\">go on</hook_prompt>")}, "fix it"},
		{"copilot writes continuations as prompts", []string{line(m{"type": "user.message", "data": m{"content": "fix it"}})}, ""},
		{"nobody spoke", []string{agent("done")}, ""},
		{"text", []string{"just text\n"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, file(t, tt.lines...), host.SessionOptions{}).Prompt(t.Context()); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
