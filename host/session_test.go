package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
)

// The records of Claude Code that the tests use.

type m = map[string]any

func jsonLine(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

// with adds fields to a record.
func with(record string, more m) string {
	r := decoded[m]([]byte(record))
	for k, v := range more {
		r[k] = v
	}
	return jsonLine(r)
}

func says(text string) string {
	return jsonLine(m{"type": "user", "message": m{"role": "user", "content": text}})
}

func meta(text string) string { return with(says(text), m{"isMeta": true}) }

func reason(text string) string { return meta("Stop hook feedback:\n" + text) }

// agent is a message with texts and other blocks.
func agent(blocks ...any) string {
	content := []any{}
	for _, b := range blocks {
		if s, ok := b.(string); ok {
			b = m{"type": "text", "text": s}
		}
		content = append(content, b)
	}
	return jsonLine(m{"type": "assistant", "message": m{"role": "assistant", "model": "claude", "content": content}})
}

func tool(id, name, input string) m {
	return m{"type": "tool_use", "id": id, "name": name, "input": json.RawMessage(input)}
}

func returned(id, text string, failed bool) string {
	return jsonLine(m{"type": "user", "message": m{"role": "user", "content": []any{
		m{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}}}})
}

func apiError(code, text string) string {
	return with(agent(text), m{"isApiErrorMessage": true, "error": code})
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

// talk shows the turns of a session, one a line.
func talk(t testing.TB, s *session, n int) string {
	t.Helper()
	turns, err := s.Turns(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, turn := range turns {
		line := turn.Role + ": " + strings.ReplaceAll(turn.Text, "\n\n", " | ")
		for _, u := range turn.Tools {
			line += " [" + u.Name + "]"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// A file lags behind its hook. Turns waits for the last message, before which a tool may be missing too.
func TestTurnsWait(t *testing.T) {
	path := file(t, says("go"), agent("a", tool("1", "Bash", "{}")))
	s := &session{record: read[record], path: path, message: "Done.", patience: time.Hour}
	go func() {
		all := says("go") + agent("a", tool("1", "Bash", "{}")) + returned("1", "", false) + agent(tool("2", "Write", "{}")) + returned("2", "", false) + agent("Done.")
		if err := os.WriteFile(path, []byte(all), 0o600); err != nil {
			panic(err)
		}
	}()
	if diff := cmp.Diff("user: go\nassistant: a | Done. [Bash] [Write]", talk(t, s, 9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s = &session{record: read[record], path: file(t, says("go")), message: "Done.", patience: poll} // it waits no longer than that
	if diff := cmp.Diff("user: go\nassistant: Done.", talk(t, s, 9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who said what. DONE is what the agent did not say in its latest turn.
func TestTurns(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing":                        {nil, ""},
		"blank lines":                    {[]string{"\n\r\n  \n"}, ""},
		"a prompt and its answer":        {[]string{says("go"), agent("a"), agent("b")}, "user: go\nassistant: a | b"},
		"without a prompt":               {[]string{agent("a"), agent("b")}, "assistant: a | b"},
		"a text instead of blocks":       {[]string{jsonLine(m{"type": "assistant", "message": m{"content": "a"}})}, "assistant: a"},
		"a picture as a prompt":          {[]string{agent("DONE"), jsonLine(m{"type": "user", "message": m{"content": []any{m{"type": "image"}}}}), agent("a")}, "assistant: DONE\nuser: \nassistant: a"},
		"an earlier turn":                {[]string{says("go"), agent("DONE"), says("next")}, "user: go\nassistant: DONE\nuser: next"},
		"a slash command is typed":       {[]string{agent("DONE"), says("<command-name>/x</command-name> run it"), agent("a")}, "assistant: DONE\nuser: <command-name>/x</command-name> run it\nassistant: a"},
		"what it expands to is not":      {[]string{says("<command-name>/x</command-name>"), agent("a"), meta("Do this: DONE"), agent("b")}, "user: <command-name>/x</command-name>\nassistant: a | b"},
		"a continuation":                 {[]string{says("go"), agent("DONE"), reason("print DONE"), agent("a")}, "user: go\nassistant: DONE\nuser: Stop hook feedback:\nprint DONE\nassistant: a"},
		"one by additional context":      {[]string{agent("DONE"), jsonLine(m{"type": "attachment", "attachment": m{"type": "hook_additional_context", "hookEvent": "Stop", "content": []string{"go on"}}}), agent("a")}, "assistant: DONE\nuser: go on\nassistant: a"},
		"the context of another event":   {[]string{agent("a"), jsonLine(m{"type": "attachment", "attachment": m{"type": "hook_additional_context", "hookEvent": "PostToolUse", "content": []string{"DONE"}}}), agent("b")}, "assistant: a | b"},
		"thinking":                       {[]string{agent(m{"type": "thinking", "thinking": "DONE"}, "a")}, "assistant: a"},
		"a tool and its result":          {[]string{says("go"), agent("a", tool("1", "Bash", "{}")), returned("1", "DONE", false), agent("b")}, "user: go\nassistant: a | b [Bash]"},
		"a result as an object":          {[]string{agent("a"), with(returned("1", "ok", false), m{"toolUseResult": m{"stdout": "DONE"}}), agent("b")}, "assistant: a | b"},
		"a result as a text":             {[]string{agent("a"), with(says("DONE"), m{"toolUseResult": "DONE"}), agent("b")}, "assistant: a | b"},
		"a subagent in the main file":    {[]string{says("go"), with(agent("DONE"), m{"isSidechain": true}), with(says("sub"), m{"isSidechain": true}), agent("a")}, "user: go\nassistant: a"},
		"a failed request":               {[]string{agent("a"), apiError("unknown", "DONE")}, "assistant: a"},
		"a message that the host makes":  {[]string{jsonLine(m{"type": "assistant", "message": m{"model": "<synthetic>", "content": "DONE"}}), agent("a")}, "assistant: a"},
		"a summary":                      {[]string{agent("a"), with(says("DONE was said"), m{"isCompactSummary": true}), agent("b")}, "assistant: a | b"},
		"output of a local command":      {[]string{agent("a"), says("<local-command-stdout>DONE"), agent("b")}, "assistant: a | b"},
		"a notification":                 {[]string{agent("a"), says("<task-notification>DONE"), agent("b")}, "assistant: a | b"},
		"another origin than the person": {[]string{agent("a"), with(says("DONE"), m{"origin": m{"kind": "peer"}}), agent("b")}, "assistant: a | b"},
		"the person by origin":           {[]string{agent("a"), with(says("go"), m{"origin": m{"kind": "human"}})}, "assistant: a\nuser: go"},
		"an interruption":                {[]string{says("go"), agent("a"), says("[Request interrupted by user]")}, "user: go\nassistant: a"},
		"records of the host":            {[]string{agent("a"), jsonLine(m{"type": "system", "subtype": "stop_hook_summary"}), jsonLine(m{"type": "summary", "summary": "DONE"})}, "assistant: a"},
		"unknown records":                {[]string{"[]\n5\nnull\n\"str\"\nDONE\n", jsonLine(m{"type": "zzz", "text": "DONE"}), agent("a")}, "assistant: a"},
		"fields of another type":         {[]string{with(agent("a"), m{"error": m{}, "origin": "x", "toolUseResult": 5, "isMeta": "no", "attachment": "x"}), `{"type":"user","message":"x"}`}, "assistant: a"},
		"a byte order mark":              {[]string{"\ufeff" + agent("a")}, "assistant: a"},
		"a torn record at the end":       {[]string{says("go"), agent("a"), `{"type":"assistant","message":{"content":[{"type":"text","text":"DO`}, "user: go\nassistant: a"},
		"a torn record alone":            {[]string{`{"type":"assistant","message":{"content":"DONE`}, ""},
		"a record without line feed":     {[]string{strings.TrimSuffix(agent("a"), "\n")}, "assistant: a"},
		"a corrupt record":               {[]string{agent("a"), `{"type":"user","message":oops}}` + "\n", agent("b")}, "assistant: a | b"},
		"a deep record":                  {[]string{agent("a"), `{"type":"user","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}\n", agent("b")}, "assistant: a | b"},
		"bytes that are not UTF-8":       {[]string{`{"type":"assistant","message":{"content":"a` + "\xff" + `"}}`}, "assistant: a\ufffd"},
		"a record of 3 MB":               {[]string{agent("a"), jsonLine(m{"type": "system", "content": strings.Repeat("x", 3<<20)})}, "assistant: a"},
		"a plain text":                   {[]string{"one\r\ntwo\r\n"}, "assistant: one\ntwo"},
		"the end of a long plain text":   {[]string{strings.Repeat("DONE\n", 10), strings.Repeat("\n", 499), "a\n"}, "assistant: " + strings.Repeat("\n", 499) + "a"},
		"Cursor and Droid": {[]string{`{"role":"user","message":{"content":[{"type":"text","text":"go"}]}}` + "\n",
			`{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}`}, "user: go\nassistant: a"},
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, "\n\n", " | ")
			if diff := cmp.Diff(want, talk(t, &session{record: read[record], path: file(t, tt.lines...)}, 100)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The file may lag behind the hook; the host's own message says what the agent said last.
func TestLastMessage(t *testing.T) {
	asked := with(says("go"), m{"promptId": "p1"})
	working := with(agent("I look.", tool("1", "Bash", "{}")), nil)
	for name, tt := range map[string]struct {
		message, prompt string
		lines           []string
		want            string
	}{
		"it is in the file":              {"a", "p1", []string{asked, agent("a")}, "user: go\nassistant: a"},
		"it is the last of two":          {"b", "p1", []string{asked, agent("a"), agent("b")}, "user: go\nassistant: a | b"},
		"the file ends with the prompt":  {"a", "p1", []string{asked}, "user: go\nassistant: a"},
		"the file ends with a tool":      {"a", "p1", []string{asked, working}, "user: go\nassistant: I look. | a [Bash]"},
		"the file ends with its result":  {"a", "p1", []string{asked, working, returned("1", "ok", false)}, "user: go\nassistant: I look. | a [Bash]"},
		"the file ends in an older turn": {"a", "", []string{asked, agent("DONE")}, "user: go\nassistant: DONE\nuser: \nassistant: a"},
		"the prompt is not in the file":  {"a", "p2", []string{asked, working}, "user: go\nassistant: I look. [Bash]\nuser: \nassistant: a"},
		"nor is there a message":         {"", "p2", []string{asked, agent("DONE")}, "user: go\nassistant: DONE\nuser: "},
		"there is no message":            {"", "p1", []string{asked, agent("a")}, "user: go\nassistant: a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{record: read[record], path: file(t, tt.lines...), message: tt.message, prompt: tt.prompt}
			if diff := cmp.Diff(tt.want, talk(t, s, 9)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTools(t *testing.T) {
	s := &session{record: read[record], path: file(t, says("go"),
		agent(tool("1", "Write", `{"file_path":"a.go"}`), tool("2", "Bash", `{"command":"make"}`)), returned("1", "ok", false), returned("2", "ok", false),
		agent(tool("3", "NotebookEdit", `{}`)), returned("3", "no", true),
		agent(tool("4", "Bash", `{"command":"make all"}`)), with(returned("4", "", false), m{"toolUseResult": m{"interrupted": true}}),
		agent(tool("5", "Bash", `{"command":"serve","run_in_background":true}`)), returned("5", "started", false),
		with(agent(tool("6", "Bash", `{"command":7}`)), m{"message": m{"content": []any{tool("6", "Bash", `{"command":7}`)}, "usage": m{"input_tokens": 3, "cache_read_input_tokens": 1000, "output_tokens": 20}}}),
	)}
	turns, err := s.Turns(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []loop.Turn{{Role: "assistant", Tokens: 1023, Tools: []loop.Tool{
		{Name: "Write", Edit: true}, {Name: "Bash", Command: "make"},
		{Name: "NotebookEdit", Edit: true, Failed: true}, {Name: "Bash", Command: "make all", Failed: true},
		{Name: "Bash", Command: "serve", Failed: true}, {Name: "Bash", Failed: true},
	}}}
	if diff := cmp.Diff(want, turns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Files that clients wrote themselves, in which a hook continued the agent twice. Qwen Code does not note that. ! is a use of a tool that
// failed.
func TestSessionFiles(t *testing.T) {
	for host, want := range map[string]string{
		"codex": `user: Make it.
assistant 15: No tool.
user: <hook_prompt hook_run_id="stop:0:/home/ada/shop/.codex/hooks.json">More.</hook_prompt>
assistant 15: Made. [exec_command true tests] [edit exec_command apply_patch <<'EOF']
user: <hook_prompt hook_run_id="stop:0:/home/ada/shop/.codex/hooks.json">More.</hook_prompt>
assistant 15: Tested. ![exec_command false tests] [exec_command true tests]
`,
		"qwen": `user: Make it.
assistant 15: No tool.|Made.|Tested. [run_shell_command true tests] [edit write_file ] ![run_shell_command false tests] [run_shell_command true tests]
`,
		"gemini": `user: Make it.
assistant 0: No tool.
user: More.
assistant 0: Made.
user: More.
assistant 0: Tested.
`,
		"copilot": `user: Make it.
assistant 0: No tool.
user: More.
assistant 0: Made.
user: More.
assistant 0: Tested.
`,
	} {
		h, _ := Lookup(host)
		s := &session{record: h.file.read, path: "testdata/sessions/" + host + ".jsonl", message: "Tested.", patience: poll}
		turns, err := s.Turns(t.Context(), 9)
		if err != nil || !s.complete(s.read) {
			t.Fatalf("%s: error %v, %+v", host, err, s.read)
		}
		got := ""
		for _, turn := range turns {
			got += turn.Role
			if turn.Role == assistant {
				got += fmt.Sprint(" ", turn.Tokens)
			}
			got += ": " + strings.ReplaceAll(turn.Text, "\n\n", "|")
			for _, u := range turn.Tools {
				line, _, _ := strings.Cut(u.Command, "\n")
				got += " "
				if u.Failed {
					got += "!"
				}
				got += "["
				if u.Edit {
					got += "edit "
				}
				got += u.Name + " " + line + "]"
			}
			got += "\n"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", host, diff)
		}
	}
}

// A turn that failed is not continued. What the agent does after a failure makes up for it.
func TestFailed(t *testing.T) {
	for name, tt := range map[string]struct {
		message string
		lines   []string
		want    string
	}{
		"nothing failed":             {"", []string{says("go"), agent("Done.")}, ""},
		"the agent quotes an error":  {"", []string{says("go"), agent("API Error: 429")}, ""},
		"a rate limit":               {"", []string{says("go"), agent("I begin."), apiError("rate_limit", "Limit reached")}, "rate_limit: Limit reached"},
		"the message is the error":   {"Limit reached", []string{says("go"), apiError("rate_limit", "Limit reached")}, "rate_limit: Limit reached"},
		"another message":            {"Done.", []string{says("go"), apiError("rate_limit", "Limit reached")}, ""},
		"without a code":             {"", []string{says("go"), apiError("", "Prompt is\ntoo long")}, `error: Prompt is\ntoo long`},
		"interrupted":                {"", []string{says("go"), agent("I begin."), says("[Request interrupted by user]")}, "interrupted: [Request interrupted by user]"},
		"a person who quotes that":   {"", []string{says("What is [Request interrupted by user]?")}, ""},
		"the agent went on":          {"", []string{says("go"), apiError("server_error", "500"), agent("Done.")}, ""},
		"a tool ran after it":        {"", []string{agent(tool("t", "Bash", "{}")), apiError("server_error", "500"), returned("t", "ok", false)}, ""},
		"it was in an earlier turn":  {"", []string{says("go"), apiError("rate_limit", "Limit"), says("again")}, ""},
		"records of the host follow": {"", []string{apiError("rate_limit", "Limit"), jsonLine(m{"type": "system"})}, "rate_limit: Limit"},
	} {
		t.Run(name, func(t *testing.T) {
			input := jsonLine(m{"session_id": "s", "cwd": "/", "transcript_path": file(t, tt.lines...), "last_assistant_message": tt.message})
			_, ev, err := Decode(ClaudeCode, []byte(input), os.Getenv)
			if err != nil || ev.Failed != tt.want {
				t.Errorf("failed: %q, error %v, want %q", ev.Failed, err, tt.want)
			}
		})
	}
}

// However large the file is, only its end is read.
func TestLargeFile(t *testing.T) {
	path := file(t)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := "\n" + says("go") + agent("a")
	if _, err := f.WriteAt([]byte(end), 2<<30); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	s := &session{record: read[record], path: path}
	if got := talk(t, s, 1); got != "assistant: a" || s.read.whole {
		t.Errorf("%q", got)
	}
	if got := talk(t, s, 50); got != "user: go\nassistant: a" {
		t.Errorf("all that there is in the largest window: %q", got)
	}
}

// A turn of many records takes one pass, and its beginning beyond the largest window is left out.
func TestEndlessTurn(t *testing.T) {
	step := agent("step", tool("1", "Bash", "{}")) + returned("1", strings.Repeat("x", 500), false)
	s := &session{record: read[record], path: file(t, says("go"), strings.Repeat(step, lastWindow/len(step)+100))}
	turns, err := s.Turns(t.Context(), 2)
	if err != nil || len(turns) != 1 || len(turns[0].Tools) < lastWindow/len(step)-2 {
		t.Errorf("%d turns, error %v", len(turns), err)
	}
}

// What is no regular file is no conversation; the agent's last message is one. A file that cannot be read is an error.
func TestUnreadable(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "missing"), t.TempDir(), os.DevNull} {
		if got := talk(t, &session{record: read[record], path: path}, 2); got != "" {
			t.Errorf("%s: %q", path, got)
		}
		if got := talk(t, &session{record: read[record], path: path, message: "a"}, 2); got != "assistant: a" {
			t.Errorf("%s: %q", path, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&session{record: read[record], path: file(t, agent("a"))}).Turns(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("too late: error %v", err)
	}
}

// Without a path the session file is found by the session's ID, which is never a path.
func TestFindSession(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-home-ada-shop")
	if err := os.MkdirAll(filepath.Join(dir, "s2.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "s1.jsonl"), filepath.Join(home, ".claude", "other.jsonl")} {
		if err := os.WriteFile(name, []byte(agent("a")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := func(name string) string { return map[string]string{"HOME": home}[name] }
	for id, want := range map[string]bool{"s1": true, "s2": false, "../../other": false, "..": false, "": false, "s?": false} {
		_, ev, err := Decode(ClaudeCode, []byte(jsonLine(m{"session_id": id, "cwd": "/"})), env)
		if err != nil {
			t.Fatal(err)
		}
		if turns, _ := ev.Conversation.Turns(t.Context(), 1); len(turns) > 0 != want {
			t.Errorf("session %q: %v", id, turns)
		}
	}
}

// Nothing in a session file makes reading fail, and no turn is empty.
func FuzzSession(f *testing.F) {
	f.Add([]byte(says("go")+agent("a", tool("1", "Bash", `{"command":"make"}`))+returned("1", "ok", true)), "a", 2)
	f.Add([]byte(with(reason("x"), m{"promptId": "p2"})+apiError("rate_limit", "Limit")+`{"type":"user","mess`), "", 9)
	f.Add([]byte("plain\ntext\n"), "b", 1)
	f.Fuzz(func(t *testing.T, content []byte, message string, n int) {
		for _, h := range hosts {
			if h.file.read == nil {
				continue
			}
			w := &window{whole: true, holds: math.MaxInt}
			w.parse(content, false, func(line []byte) (entry, bool) { return h.file.read(line, false) })
			s := &session{message: message, prompt: "p1", read: w}
			turns, err := s.Turns(t.Context(), n)
			if err != nil || len(turns) > max(n, 0) {
				t.Fatalf("%d turns, error %v", len(turns), err)
			}
			for i, turn := range turns {
				if i > 0 && turn.Role == turns[i-1].Role {
					t.Fatalf("two turns of %s in a row", turn.Role)
				}
			}
			if last := len(turns) - 1; n > 0 && strings.TrimSpace(message) != "" && (turns[last].Role != assistant || !strings.Contains(turns[last].Text, strings.TrimSpace(message))) {
				t.Fatalf("the last turn is %+v", turns[last])
			}
		}
	})
}
