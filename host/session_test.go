package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// The records of Claude Code that the tests use.

type m = map[string]any

func line(record any) string {
	data, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

func with(record string, more m) string {
	var r m
	if err := json.Unmarshal([]byte(record), &r); err != nil {
		panic(err)
	}
	for k, v := range more {
		r[k] = v
	}
	return line(r)
}

func user(text string) string {
	return line(m{"type": "user", "isSidechain": false, "message": m{"role": "user", "content": text}})
}

func meta(text string) string { return with(user(text), m{"isMeta": true}) }

func feedback(reason string) string { return meta("Stop hook feedback:\n" + reason) }

func agent(blocks ...any) string {
	content := []any{}
	for _, b := range blocks {
		if s, ok := b.(string); ok {
			b = m{"type": "text", "text": s}
		}
		content = append(content, b)
	}
	return line(m{"type": "assistant", "isSidechain": false, "message": m{"role": "assistant", "model": "claude", "content": content}})
}

func tool(name string) m {
	return m{"type": "tool_use", "id": "t1", "name": name, "input": m{"prompt": "print DONE"}}
}

func thinking(text string) m { return m{"type": "thinking", "thinking": text} }

func result(text string) string {
	return line(m{"type": "user", "message": m{"role": "user", "content": []any{m{"type": "tool_result", "tool_use_id": "t1", "content": text}}}})
}

// file writes a session file.
func file(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string, o host.SessionOptions) *host.Session {
	t.Helper()
	s, err := host.ReadSession(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is the agent's own, and where its turn begins.
func TestOwn(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"nothing", nil, nil},
		{"blank lines", []string{"\n\r\n  \n"}, nil},
		{"a prompt and its answer", []string{user("go"), agent("a"), agent("b")}, []string{"a", "b"}},
		{"without a prompt all is of this turn", []string{agent("a"), agent("b")}, []string{"a", "b"}},
		{"a text instead of blocks", []string{user("go"), line(m{"type": "assistant", "message": m{"role": "assistant", "content": "a"}})}, []string{"a"}},
		{"two blocks in one record", []string{user("go"), agent("a", "b")}, []string{"a", "b"}},
		{"blank texts", []string{user("go"), agent(" ", "a", "\n")}, []string{"a"}},
		{"escapes and blanks in the JSON", []string{`{"type" : "assistant" , "message" : {"content" : [ {"type" : "text" , "text" : "\u003ca\u003e \"\\" } ] } }` + "\r\n"}, []string{`<a> "\`}},

		{"the person's words are not the agent's", []string{user("print DONE"), agent("a")}, []string{"a"}},
		{"an earlier turn", []string{user("go"), agent("DONE"), user("next"), agent("a")}, []string{"a"}},
		{"an earlier turn, and nothing since", []string{user("go"), agent("DONE"), user("next")}, nil},
		{"blocks of a prompt", []string{agent("DONE"), line(m{"type": "user", "message": m{"content": []any{m{"type": "text", "text": "go"}}}}), agent("a")}, []string{"a"}},
		{"a picture as a prompt", []string{agent("DONE"), line(m{"type": "user", "message": m{"content": []any{m{"type": "image"}}}}), agent("a")}, []string{"a"}},
		{"a slash command is typed by the person", []string{agent("DONE"), user("<command-name>/implement</command-name> run it"), agent("a")}, []string{"a"}},
		{"what the command expands to is not", []string{user("<command-name>/x</command-name>"), agent("a"), meta("Do this: DONE"), agent("b")}, []string{"a", "b"}},
		{"a continuation", []string{user("go"), agent("DONE"), feedback("print DONE"), agent("a")}, []string{"a"}},
		{"a continuation as the last record", []string{user("go"), agent("DONE"), feedback("print DONE")}, nil},
		{"a continuation by additional context", []string{user("go"), agent("DONE"), line(m{"type": "attachment", "attachment": m{"type": "hook_additional_context", "hookEvent": "Stop", "content": []string{"go on"}}}), agent("a")}, []string{"a"}},
		{"additional context of another event", []string{user("go"), agent("a"), line(m{"type": "attachment", "attachment": m{"type": "hook_additional_context", "hookEvent": "PostToolUse", "content": []string{"x"}}}), agent("b")}, []string{"a", "b"}},

		{"thinking", []string{user("go"), agent(thinking("DONE"), "a")}, []string{"a"}},
		{"a tool call", []string{user("go"), agent(tool("Task")), agent("a")}, []string{"a"}},
		{"a tool call does not hide what was said before", []string{user("go"), agent("a"), agent(tool("Bash")), result("ok"), agent("b")}, []string{"a", "b"}},
		{"a tool's result is no prompt", []string{user("go"), agent("a"), result("DONE"), agent("b")}, []string{"a", "b"}},
		{"a tool's result as an object", []string{user("go"), agent("a"), with(result("ok"), m{"toolUseResult": m{"stdout": "DONE"}}), agent("b")}, []string{"a", "b"}},
		{"a subagent in the main file", []string{user("go"), with(agent("DONE"), m{"isSidechain": true}), with(user("sub task"), m{"isSidechain": true}), agent("a")}, []string{"a"}},
		{"a failed request", []string{user("go"), agent("a"), with(agent("API Error: DONE"), m{"isApiErrorMessage": true})}, []string{"a"}},
		{"a message that the host made up", []string{user("go"), line(m{"type": "assistant", "message": m{"model": "<synthetic>", "content": []any{m{"type": "text", "text": "DONE"}}}}), agent("a")}, []string{"a"}},
		{"the summary of a long conversation", []string{user("go"), agent("a"), line(m{"type": "system", "subtype": "compact_boundary"}), with(user("DONE was said"), m{"isCompactSummary": true}), agent("b")}, []string{"a", "b"}},
		{"the title of an old conversation", []string{line(m{"type": "summary", "summary": "DONE"}), user("go"), agent("a")}, []string{"a"}},
		{"output of a local command", []string{user("go"), agent("a"), user("<local-command-stdout>DONE</local-command-stdout>"), agent("b")}, []string{"a", "b"}},
		{"a notification", []string{user("go"), agent("a"), with(user("<task-notification>DONE"), m{"origin": m{"kind": "task-notification"}}), agent("b")}, []string{"a", "b"}},
		{"a notification of a version without origins", []string{user("go"), agent("a"), user("<task-notification>DONE"), agent("b")}, []string{"a", "b"}},
		{"a tool's result as a text", []string{user("go"), agent("a"), with(user("DONE"), m{"toolUseResult": "DONE"}), agent("b")}, []string{"a", "b"}},
		{"another origin than the person", []string{user("go"), agent("a"), with(user("DONE"), m{"origin": m{"kind": "peer"}}), agent("b")}, []string{"a", "b"}},
		{"the person by origin", []string{agent("DONE"), with(user("go"), m{"origin": m{"kind": "human"}}), agent("a")}, []string{"a"}},

		{"records of the host at the end", []string{user("go"), agent("a"), line(m{"type": "system", "subtype": "stop_hook_summary"}), line(m{"type": "last-prompt"})}, []string{"a"}},
		{"unknown records", []string{"[]\n5\nnull\n\"str\"\n", line(m{"type": "zzz", "text": "DONE"}), agent("a")}, []string{"a"}},
		{"words between the records", []string{user("go"), "DONE\n", agent("a")}, []string{"a"}},
		{"a byte order mark", []string{"\ufeff" + agent("a")}, []string{"a"}},
		{"a torn record at the end", []string{user("go"), agent("a"), `{"type":"assistant","message":{"content":[{"type":"text","text":"DO`}, []string{"a"}},
		{"a torn prompt at the end", []string{user("go"), agent("a"), `{"type":"user","mess`}, []string{"a"}},
		{"a record without its newline", []string{user("go"), strings.TrimSuffix(agent("a"), "\n")}, []string{"a"}},
		{"a torn record alone", []string{`{"type":"assistant","message":{"content":"DONE`}, nil},
		{"a corrupt record in the middle", []string{user("go"), agent("a"), `{"type":"user","message":oops}}` + "\n", agent("b")}, []string{"a", "b"}},
		{"a deeply nested record", []string{user("go"), agent("a"), `{"type":"user","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}\n", agent("b")}, []string{"a", "b"}},
		{"bytes that are not UTF-8", []string{`{"type":"assistant","message":{"content":"a` + "\xff" + `"}}`}, []string{"a\ufffd"}},
		{"a duplicate key: the last counts, as for every decoder", []string{`{"type":"assistant","type":"assistant","message":{"content":"old"},"message":{"content":"a"}}`}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, read(t, file(t, c.lines...), host.SessionOptions{}).Own()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnOfOtherHosts(t *testing.T) {
	item := func(payload m) string { return line(m{"timestamp": "t", "type": "response_item", "payload": payload}) }
	said := func(role, typ, text string) string {
		return item(m{"type": "message", "role": role, "content": []any{m{"type": typ, "text": text}}})
	}
	codex := []string{
		line(m{"type": "session_meta", "payload": m{"id": "s"}}),
		said("developer", "input_text", "DONE"),
		said("user", "input_text", "<environment_context>DONE</environment_context>"),
		said("user", "input_text", "go"),
		said("assistant", "output_text", "DONE"),
		said("user", "input_text", `<hook_prompt hook_run_id="stop:0:x">print DONE</hook_prompt>`),
		item(m{"type": "reasoning", "summary": []any{}}),
		said("assistant", "output_text", "a"),
		item(m{"type": "function_call", "name": "shell", "arguments": "{}"}),
		item(m{"type": "function_call_output", "output": "DONE"}),
		item(m{"type": "local_shell_call", "action": m{}}),
		said("user", "input_text", "# AGENTS.md instructions for /w\nDONE"),
		said("assistant", "output_text", "b"),
		line(m{"type": "event_msg", "payload": m{"type": "agent_message", "message": "b"}}),
		line(m{"type": "event_msg", "payload": m{"type": "token_count", "info": m{"last_token_usage": m{"total_tokens": 1234}}}}),
	}
	gemini := []string{
		line(m{"sessionId": "s", "kind": "main"}),
		line(m{"id": "1", "type": "user", "content": "go"}),
		line(m{"id": "2", "type": "gemini", "content": "DONE"}),
		line(m{"id": "3", "type": "user", "content": []any{m{"text": "print DONE"}}, "displayContent": "go"}),
		line(m{"id": "4", "type": "gemini", "content": "a, half writt"}),
		line(m{"id": "4", "type": "gemini", "content": "a", "toolCalls": []any{m{"name": "read_file"}}, "tokens": m{"total": 1234}}),
		line(m{"$set": m{"lastUpdated": "t"}}),
		line(m{"id": "5", "type": "user", "content": []any{m{"functionResponse": m{"name": "read_file"}}}}),
		line(m{"id": "6", "type": "gemini", "content": "b"}),
		line(m{"id": "7", "type": "info", "content": "DONE"}),
	}
	qwen := []string{
		line(m{"type": "assistant", "message": m{"role": "model", "parts": []any{m{"text": "DONE"}}}}),
		line(m{"type": "user", "message": m{"role": "user", "parts": []any{m{"text": "go"}}}}),
		line(m{"type": "assistant", "message": m{"role": "model", "parts": []any{m{"text": "DONE?", "thought": true}, m{"text": "a"}, m{"functionCall": m{"name": "read_file"}}}}}),
		line(m{"type": "tool_result", "message": m{"role": "user", "parts": []any{m{"functionResponse": m{"name": "read_file"}}}}}),
		line(m{"type": "assistant", "message": m{"role": "model", "parts": []any{m{"text": "b"}}}}),
	}
	copilot := []string{
		line(m{"type": "session.start", "data": m{"sessionId": "s"}}),
		line(m{"type": "user.message", "data": m{"content": "go"}}),
		line(m{"type": "assistant.message", "data": m{"content": "DONE"}}),
		line(m{"type": "hook.end", "data": m{"output": m{"decision": "block", "reason": "print DONE"}}}),
		line(m{"type": "user.message", "data": m{"content": "print DONE", "delivery": "queued"}}),
		line(m{"type": "assistant.message", "data": m{"content": "DONE", "parentToolCallId": "t1"}}),
		line(m{"type": "assistant.message", "data": m{"content": "a", "toolRequests": []any{m{"name": "bash"}}}}),
		line(m{"type": "tool.execution_complete", "data": m{"result": m{"content": "DONE"}}}),
		line(m{"type": "assistant.message", "data": m{"content": "b"}}),
	}
	droid := []string{
		line(m{"type": "session_start", "id": "s"}),
		line(m{"type": "message", "id": "1", "message": m{"role": "assistant", "content": []any{m{"type": "text", "text": "DONE"}}}}),
		line(m{"type": "message", "id": "2", "message": m{"role": "user", "content": []any{m{"type": "text", "text": "go"}}}}),
		line(m{"type": "message", "id": "3", "message": m{"role": "assistant", "content": []any{m{"type": "text", "text": "a"}, m{"type": "tool_use", "name": "Read"}}}}),
		line(m{"type": "message", "id": "4", "message": m{"role": "user", "content": []any{m{"type": "tool_result", "content": "DONE"}}}}),
		line(m{"type": "message", "id": "5", "message": m{"role": "assistant", "content": []any{m{"type": "text", "text": "b"}}}}),
	}
	cursor := []string{
		line(m{"role": "assistant", "message": m{"content": []any{m{"type": "text", "text": "DONE"}}}}),
		line(m{"role": "user", "message": m{"content": []any{m{"type": "text", "text": "go"}}}}),
		line(m{"role": "assistant", "message": m{"content": []any{m{"type": "text", "text": "a"}, m{"type": "text", "text": "b"}}}}),
	}
	for _, c := range []struct {
		name   string
		lines  []string
		tools  []string
		tokens int
	}{
		{"codex", codex, []string{"shell", "local_shell"}, 1234},
		{"gemini", gemini, []string{"read_file"}, 1234},
		{"qwen", qwen, []string{"read_file"}, 0},
		{"copilot", copilot, []string{"bash"}, 0},
		{"droid", droid, []string{"Read"}, 0},
		{"cursor", cursor, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, file(t, c.lines...), host.SessionOptions{})
			if diff := cmp.Diff([]string{"a", "b"}, s.Own()); diff != "" {
				t.Errorf("Own (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.tools, s.Tools()); diff != "" {
				t.Errorf("Tools (-want +got):\n%s", diff)
			}
			if got := s.Tokens(); got != c.tokens {
				t.Errorf("Tokens = %d, want %d", got, c.tokens)
			}
			turns := s.Turns(1000)
			if len(turns) == 0 || turns[len(turns)-1].Role != "assistant" {
				t.Fatalf("Turns = %+v", turns)
			}
			for _, turn := range turns {
				if strings.Contains(turn.Text, "half writt") || strings.Contains(turn.Text, "environment") {
					t.Errorf("Turns has %+v", turn)
				}
			}
		})
	}
}

// Text that is not a session of records is the agent's own, up to its last 500 lines.
func TestOwnOfPlainText(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"lines", "some\noutput\n", "some\noutput\n"},
		{"one line without a newline", "DONE", "DONE"},
		{"CRLF and a byte order mark", "\ufeffout\r\nDONE\r\n", "out\nDONE\n"},
		{"the 500th line from the end", strings.Repeat("x\n", 50) + "DONE\n" + strings.Repeat("y\n", 499), "DONE\n" + strings.Repeat("y\n", 499)},
		{"600 lines from the end", "DONE\n" + strings.Repeat("y\n", 600), strings.Repeat("y\n", 500)},
		{"a document in it", "text\n{\"name\":\"x\"}\nDONE\n", "text\n{\"name\":\"x\"}\nDONE\n"},
		{"bytes that are not UTF-8", "\xff\xfe\x00bad\nDONE\n", "\ufffd\x00bad\nDONE\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, file(t, c.data), host.SessionOptions{})
			want := []string{strings.TrimSuffix(c.want, "\n")}
			if diff := cmp.Diff(want, s.Own()); diff != "" {
				t.Errorf("Own (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]host.Turn{{Role: "assistant", Text: want[0]}}, s.Turns(5)); diff != "" {
				t.Errorf("Turns (-want +got):\n%s", diff)
			}
		})
	}
}

// One JSON document over many lines is neither.
func TestOwnOfADocument(t *testing.T) {
	s := read(t, file(t, "{\n \"messages\": [\n  \"DONE\"\n ]\n}\n"), host.SessionOptions{})
	if own := s.Own(); own != nil {
		t.Errorf("Own = %q", own)
	}
}

// A subagent's own file bears the mark on every record.
func TestSubagent(t *testing.T) {
	mark := m{"isSidechain": true}
	lines := strings.Join([]string{with(user("find it"), mark), with(agent("a"), mark)}, "")
	want := []string{"a"}

	named := filepath.Join(t.TempDir(), "agent-af95.jsonl")
	if err := os.WriteFile(named, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read(t, named, host.SessionOptions{Turn: "other"}).Own()); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
	path := file(t, lines)
	if diff := cmp.Diff(want, read(t, path, host.SessionOptions{Subagent: true}).Own()); diff != "" {
		t.Errorf("by option (-want +got):\n%s", diff)
	}
	if own := read(t, path, host.SessionOptions{}).Own(); own != nil {
		t.Errorf("as a main file: %q", own)
	}
}

func TestToolsTokensLast(t *testing.T) {
	part := func(id string, block any, usage m) string {
		return with(agent(), m{"message": m{"id": id, "role": "assistant", "content": []any{block}, "usage": usage}})
	}
	path := file(t,
		user("go"), agent("old", tool("Old")),
		user("next"),
		part("m1", m{"type": "text", "text": "I look."}, m{"input_tokens": 1, "output_tokens": 1}),
		part("m1", tool("Read"), m{"input_tokens": 1, "output_tokens": 1}),
		result("x"),
		part("m2", tool("Bash"), m{}),
		result("x"),
		part("m3", m{"type": "text", "text": "Found."}, m{"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 3000, "output_tokens": 40000, "service_tier": "standard"}),
		line(m{"type": "system", "subtype": "info"}),
	)
	s := read(t, path, host.SessionOptions{})
	if diff := cmp.Diff([]string{"Read", "Bash"}, s.Tools()); diff != "" {
		t.Errorf("Tools (-want +got):\n%s", diff)
	}
	if got := s.Tokens(); got != 43210 {
		t.Errorf("Tokens = %d", got)
	}
	if got := s.Last(); got != "Found." {
		t.Errorf("Last = %q", got)
	}
	if got := read(t, path, host.SessionOptions{LastMessage: "Told."}).Last(); got != "Told." {
		t.Errorf("Last with a last message = %q", got)
	}
	if got := read(t, file(t, agent("old"), user("next")), host.SessionOptions{LastMessage: " "}).Last(); got != "" {
		t.Errorf("Last before the first word = %q", got)
	}
}

func TestTurns(t *testing.T) {
	part := func(id string, block any) string {
		return with(agent(), m{"message": m{"id": id, "role": "assistant", "content": []any{block}}})
	}
	path := file(t,
		user("one"), agent("1"),
		meta("injected"),
		user("two"),
		part("m1", thinking("hm")),
		part("m1", m{"type": "text", "text": "2a"}),
		part("m1", tool("Bash")),
		result("x"),
		part("m1", m{"type": "text", "text": "2b"}),
		part("m2", thinking("only")),
		part("m3", tool("Read")),
		feedback("go on"),
		agent("3"), agent("4"),
	)
	all := []host.Turn{
		{Role: "user", Text: "one"},
		{Role: "assistant", Text: "1"},
		{Role: "user", Text: "two"},
		{Role: "assistant", Text: "2a\n2b", Tools: []string{"Bash"}},
		{Role: "assistant", Tools: []string{"Read"}},
		{Role: "user", Text: "Stop hook feedback:\ngo on"},
		{Role: "assistant", Text: "3"},
		{Role: "assistant", Text: "4"},
	}
	for n := -1; n <= len(all)+1; n++ {
		// A fresh session each time: how far it has read before must make no difference.
		var want []host.Turn
		if n > 0 {
			want = all[max(0, len(all)-n):]
		}
		if diff := cmp.Diff(want, read(t, path, host.SessionOptions{}).Turns(n)); diff != "" {
			t.Errorf("Turns(%d) (-want +got):\n%s", n, diff)
		}
	}
	s := read(t, path, host.SessionOptions{})
	for _, n := range []int{1, 7, 3, 100, 2} {
		if diff := cmp.Diff(all[max(0, len(all)-n):], s.Turns(n)); diff != "" {
			t.Errorf("Turns(%d) of one session (-want +got):\n%s", n, diff)
		}
	}
	if diff := cmp.Diff([]string{"3", "4"}, s.Own()); diff != "" {
		t.Errorf("Own after Turns (-want +got):\n%s", diff)
	}
}

// The words of the file and the hook input together, when one may lag behind the other.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		last  string
		want  []string
	}{
		{"no last message", []string{user("go"), agent("a")}, "", []string{"a"}},
		{"a blank last message", []string{user("go"), agent("a")}, " \n", []string{"a"}},
		{"the file has it", []string{user("go"), agent("a"), agent("b")}, "b", []string{"a", "b"}},
		{"the file has it, a tool call after the words", []string{user("go"), agent("DONE"), agent(tool("Bash")), result("ok"), agent("b")}, "b", []string{"DONE", "b"}},
		{"the file has it with white space around", []string{user("go"), agent("a\n")}, "a", []string{"a\n"}},
		{"the file has it as the last of two blocks", []string{user("go"), agent("a", "b")}, "b", []string{"a", "b"}},
		{"the file has only the prompt", []string{agent("old"), user("go")}, "a", []string{"a"}},
		{"the file has only the continuation", []string{agent("old"), feedback("go on")}, "a", []string{"a"}},
		{"the file ends with a tool call", []string{user("go"), agent("DONE"), agent(tool("Bash"))}, "b", []string{"DONE", "b"}},
		{"the file ends with a tool's result", []string{user("go"), agent("DONE"), agent(tool("Bash")), result("ok")}, "b", []string{"DONE", "b"}},
		{"the file ends with a thought", []string{user("go"), agent("DONE"), agent(thinking("hm"))}, "b", []string{"DONE", "b"}},
		{"the file ends with a text that announces a tool call", []string{user("go"), line(m{"type": "assistant", "message": m{"stop_reason": "tool_use", "content": []any{m{"type": "text", "text": "DONE"}}}})}, "b", []string{"DONE", "b"}},
		{"the file ends in an earlier turn", []string{user("go"), agent("DONE")}, "b", []string{"b"}},
		{"the file ends in an earlier turn, with the host's records", []string{user("go"), agent("DONE"), line(m{"type": "system"})}, "b", []string{"b"}},
		{"an earlier turn said the same", []string{user("go"), agent("DONE"), agent("b"), user("next")}, "b", []string{"b"}},
		{"plain text", []string{"DONE\n"}, "b", []string{"b"}},
		{"plain text alone", []string{"DONE\n"}, "", []string{"DONE"}},
		{"an empty file", nil, "b", []string{"b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, file(t, c.lines...), host.SessionOptions{LastMessage: c.last})
			if diff := cmp.Diff(c.want, host.Words(s, c.last)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		if got := host.Words(nil, ""); got != nil {
			t.Errorf("without a last message: %q", got)
		}
		if diff := cmp.Diff([]string{"a"}, host.Words(nil, "a")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// If both name the turn, they need not be compared.
func TestWordsByTurn(t *testing.T) {
	id := func(id string) m { return m{"promptId": id} }
	path := file(t, with(user("go"), id("p1")), agent("DONE"), agent(tool("Bash")), with(result("ok"), id("p1")), agent("b"))
	for _, c := range []struct {
		turn, last string
		want       []string
	}{
		{"p1", "", []string{"DONE", "b"}},
		{"p1", "b", []string{"DONE", "b"}},
		{"", "b", []string{"DONE", "b"}},
		{"p2", "", nil},
		{"p2", "b", []string{"b"}},
	} {
		s := read(t, path, host.SessionOptions{Turn: c.turn})
		if diff := cmp.Diff(c.want, host.Words(s, c.last)); diff != "" {
			t.Errorf("turn %q, last %q (-want +got):\n%s", c.turn, c.last, diff)
		}
	}
	if s := read(t, path, host.SessionOptions{Turn: "p2"}); s.Tools() != nil || s.Last() != "" || len(s.Turns(9)) != 4 {
		t.Errorf("Tools %q, Last %q, Turns %v: a file that lags has turns but no current one", s.Tools(), s.Last(), s.Turns(9))
	}
}
