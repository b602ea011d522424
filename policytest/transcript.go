package policytest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// transcript writes the session file, outside of the project: plain text as it is, messages in Claude Code's format.
func (b *bench) transcript() (string, error) {
	g := b.test.Given
	if g.Text != "" {
		file := filepath.Join(b.dir, "session.txt")
		return file, os.WriteFile(file, []byte(g.Text), 0o600)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	call := 0
	for _, m := range g.Transcript {
		if m.Key == "tool" || m.Key == "command" || m.Key == "edit" {
			call++
		}
		if err := enc.Encode(record(m, "call"+strconv.Itoa(call))); err != nil {
			return "", err
		}
	}
	file := filepath.Join(b.dir, "session.jsonl")
	return file, os.WriteFile(file, []byte(out.String()), 0o600)
}

// record returns one line of a session file. call is the ID of the latest use of a tool.
func record(m message, call string) map[string]any {
	role, content := "assistant", any([]any{map[string]any{"type": "text", "text": m.Text}})
	message, line := map[string]any{}, map[string]any{"isSidechain": m.Key == "subagent"}
	use := func(tool string, input map[string]any) {
		content = []any{map[string]any{"type": "tool_use", "id": call, "name": tool, "input": input}}
	}
	switch m.Key {
	case "assistant", "subagent":
	case "tool":
		use(m.Text, map[string]any{})
	case "command":
		use("Bash", map[string]any{"command": m.Text})
	case "edit":
		use("Edit", map[string]any{"file_path": m.Text})
	case "failed":
		content = []any{map[string]any{"type": "text", "text": "API Error"}}
		line["isApiErrorMessage"], line["error"] = true, m.Text
	case "result", "failure":
		role, content = "user", []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": m.Text, "is_error": m.Key == "failure"}}
	case "tokens":
		n, _ := strconv.Atoi(m.Text) // already validated
		content, message["usage"] = []any{}, map[string]any{"input_tokens": n}
	case "continuation":
		role, content, line["isMeta"] = "user", "Stop hook feedback:\n"+m.Text, true
	default:
		role, content = "user", m.Text
	}
	message["role"], message["content"] = role, content
	line["type"], line["message"] = role, message
	return line
}

// lastWords returns the agent's final message as hosts send it with the hook input: only if the session ends with it.
func lastWords(session []message) string {
	if len(session) == 0 || session[len(session)-1].Key != "assistant" {
		return ""
	}
	return session[len(session)-1].Text
}
