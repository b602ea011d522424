package policytest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// transcript writes the session file, outside of the project: plain text as it
// is, messages as Claude Code keeps them.
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

// record is one line of a session file. call is the id of the latest use of a tool.
func record(m message, call string) map[string]any {
	line := func(role string, content any) map[string]any {
		return map[string]any{"type": role, "isSidechain": false, "message": map[string]any{"role": role, "content": content}}
	}
	block := func(kind, key string) []any { return []any{map[string]any{"type": kind, key: m.Text}} }
	switch m.Key {
	case "assistant":
		return line("assistant", block("text", "text"))
	case "tool":
		return line("assistant", []any{map[string]any{"type": "tool_use", "id": call, "name": m.Text, "input": map[string]any{}}})
	case "command":
		input := map[string]any{"command": m.Text}
		return line("assistant", []any{map[string]any{"type": "tool_use", "id": call, "name": "Bash", "input": input}})
	case "edit":
		input := map[string]any{"file_path": m.Text}
		return line("assistant", []any{map[string]any{"type": "tool_use", "id": call, "name": "Edit", "input": input}})
	case "failed":
		r := line("assistant", []any{map[string]any{"type": "text", "text": "API Error"}})
		r["isApiErrorMessage"], r["error"] = true, m.Text
		return r
	case "result", "failure":
		failed := m.Key == "failure"
		return line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": m.Text, "is_error": failed}})
	case "tokens":
		n, _ := strconv.Atoi(m.Text) // the reader saw to it
		r := line("assistant", []any{})
		r["message"].(map[string]any)["usage"] = map[string]any{"input_tokens": n}
		return r
	case "continuation":
		r := line("user", "Stop hook feedback:\n"+m.Text)
		r["isMeta"] = true
		return r
	case "subagent":
		r := line("assistant", block("text", "text"))
		r["isSidechain"] = true
		return r
	}
	return line("user", m.Text)
}

// lastWords is the agent's final text, as hosts tell it with the hook input: only
// where the session ends in it.
func lastWords(session []message) string {
	if len(session) == 0 || session[len(session)-1].Key != "assistant" {
		return ""
	}
	return session[len(session)-1].Text
}
