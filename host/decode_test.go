package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
)

func nothing(string) string { return "" }

// How prompts are told apart for each kind of host.
func TestPrompt(t *testing.T) {
	active := func(is bool) map[string]any { return m{"stop_hook_active": is} }
	for name, tt := range map[string]struct {
		host  prompt
		input m
		want  loop.Event
	}{
		"by an ID":                       {prompt{id: "prompt_id", flag: true}, m{"prompt_id": "p1", "stop_hook_active": false}, loop.Event{PromptID: "p1", Names: active(false)}},
		"by its flag, without an ID":     {prompt{id: "prompt_id", flag: true}, m{"stop_hook_active": false}, loop.Event{NewPrompt: true, Names: active(false)}},
		"by its flag, continued":         {prompt{flag: true}, m{"stop_hook_active": true}, loop.Event{Names: active(true)}},
		"by its flag, as a text":         {prompt{flag: true}, m{"stop_hook_active": "False"}, loop.Event{NewPrompt: true, Names: active(false)}},
		"by its flag, of another type":   {prompt{flag: true}, m{"stop_hook_active": 0}, loop.Event{AfterStop: true, Names: m{}}},
		"by the prompt's text":           {prompt{text: "prompt"}, m{"prompt": "go", "stop_hook_active": false}, loop.Event{PromptID: "4cd0e21a9a0795a14ec9aa5f0e7d1abf", Names: m{}}},
		"by a count, first":              {prompt{count: "loop_count"}, m{"loop_count": 0}, loop.Event{NewPrompt: true, Names: active(false)}},
		"by a count, later":              {prompt{count: "loop_count"}, m{"loop_count": 3}, loop.Event{Names: active(true)}},
		"by a count that is none":        {prompt{count: "loop_count"}, m{"loop_count": -1}, loop.Event{AfterStop: true, Names: m{}}},
		"not at all":                     {prompt{}, m{"stop_hook_active": false, "": "p1"}, loop.Event{AfterStop: true, Names: m{}}},
		"a subagent has a flag, no turn": {prompt{flag: true}, m{"stop_hook_active": false}, loop.Event{Name: "SubagentStop", Names: active(false)}},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := parse([]byte(jsonLine(tt.input)))
			if err != nil {
				t.Fatal(err)
			}
			got := loop.Event{Name: tt.want.Name, Names: m{}}
			tt.host.tell(in, &got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Input that cannot be used names what is wrong with it.
func TestDecodeErrors(t *testing.T) {
	for input, want := range map[string]string{
		"":                                     "hook input: it is empty; a host sends one JSON object on standard input",
		" \n\x00":                              "hook input: it is empty",
		"42":                                   "hook input: it is JSON, but no object",
		"null":                                 "hook input: it is JSON, but no object",
		"{}":                                   "hook input: it is an object without fields",
		"{{{":                                  "hook input: it is not JSON: invalid character '{'",
		`{"cwd":"/","stop_hook`:                "hook input: it is not JSON: unexpected end of JSON input",
		`{"cwd":"/"} {}`:                       "hook input: it is not JSON: invalid character '{' after top-level value",
		`{"x":` + strings.Repeat("[", 100_000): "hook input: it is not JSON: invalid character '[' exceeded max depth",
		`{"x":"` + strings.Repeat("x", MaxInput) + `"}`: "hook input: it is larger than 64 MiB",
	} {
		h, _, err := Decode("", []byte(input), nothing)
		if h == nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: host %v, error %v, want %s", input, h, err, want)
		}
	}
	_, _, err := Decode("claude", []byte(`{"cwd":"/"}`), nothing)
	if err == nil || !strings.Contains(err.Error(), `there is no host "claude"`) || !strings.Contains(err.Error(), ClaudeCode) {
		t.Errorf("an unknown host: %v", err)
	}
}

// What hosts write around the object and in it does not matter.
func TestDecodeAround(t *testing.T) {
	for _, input := range []string{
		"\ufeff{\"cwd\":\"/w\",\"response\":\"a\"}\r\n\x00",
		`{"cwd":"/old","cwd":"/w","response":["a"],"n":1e400}`,
		`{"cwd":"/w","message":{"content":[{"text":"a"}]},"text":"b","last_assistant_message":null}`,
	} {
		_, ev, err := Decode("", []byte(input), nothing)
		if err != nil || ev.Dir != "/w" || ev.Message != "a" {
			t.Errorf("%s: %+v, error %v", input, ev, err)
		}
	}
	project := func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": t.TempDir()}[name] }
	if _, ev, err := Decode("", []byte(`{"response":"a"}`), project); err != nil || !filepath.IsAbs(ev.Dir) {
		t.Errorf("directory %q, error %v", ev.Dir, err)
	}
	if _, ev, err := Decode("", []byte(`{"cwd":"/","hook_event_name":"StopFailure"}`), nothing); err != nil || ev.Failed == "" {
		t.Errorf("a turn that failed without a reason: %+v, error %v", ev, err)
	}
	for input, want := range map[string]string{`{"response":"a"}`: ".", `{"cwd":null}`: "", `{"cwd":7}`: "", `{"cwd":""}`: ""} {
		if _, ev, err := Decode("", []byte(input), nothing); err != nil || ev.Dir != want {
			t.Errorf("%s: directory %q, error %v, want %q", input, ev.Dir, err, want)
		}
	}
}

// The task list is one JSON file a task, in the order of their numbers.
func TestTasks(t *testing.T) {
	home := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(home, ".claude", "tasks", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("s1/10.json", `{"id":"10","subject":"Ship it","status":"pending"}`)
	write("s1/9.json", `{"id":"9","title":"Write it","status":"completed"}`)
	write("s1/.lock", "")
	write("mine/1.json", `[]`)
	write("mine/2.json", `{"id":"2"}`)
	list := func(session, named string) ([]any, error) {
		env := m{"HOME": home, "CLAUDE_CODE_TASK_LIST_ID": named}
		_, ev, err := Decode(ClaudeCode, []byte(jsonLine(m{"session_id": session, "cwd": "/"})), func(name string) string { s, _ := env[name].(string); return s })
		if err != nil {
			t.Fatal(err)
		}
		return ev.Tasks(t.Context())
	}
	want := []any{m{"id": "9", "title": "Write it", "subject": "Write it", "status": "completed"}, m{"id": "10", "subject": "Ship it", "status": "pending"}}
	if got, err := list("s1", ""); err != nil || !cmp.Equal(got, want) {
		t.Errorf("error %v (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	if got, err := list("s1", "mine"); err == nil || !strings.HasSuffix(err.Error(), "mine/1.json is not a JSON object") || len(got) != 1 {
		t.Errorf("a list with a name: %v, error %v", got, err)
	}
	for _, id := range []string{"s2", "../tasks/s1", "..", ""} {
		if got, err := list(id, ""); err != nil || got == nil || len(got) > 0 {
			t.Errorf("the list of %q: %v, error %v", id, got, err)
		}
	}
}

func TestTable(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "3", "HOME": filepath.FromSlash("/home/ada")}[name]
	}
	h, _ := Lookup(ClaudeCode)
	if most, says := h.Limit(env); most != 3 || says != "Claude Code ends the turn after 3 continuations, whatever ralph answers; the use of a tool begins the count again." {
		t.Errorf("limit %d: %s", most, says)
	}
	if most, _ := h.Limit(nothing); most != 8 {
		t.Errorf("limit %d, want 8", most)
	}
	if InSession(env) != "CLAUDECODE" || InSession(nothing) != "" {
		t.Error("an agent's session is not told from a person's")
	}
	if got := filepath.ToSlash(h.UserFile(env)); !strings.HasSuffix(got, "/home/ada/.claude/settings.json") || h.UserFile(nothing) != "" {
		t.Errorf("the person's settings: %q", got)
	}
	for _, h := range hosts {
		if len(h.answer.reason) == 0 || h.Title == "" {
			t.Errorf("the row of %s is not whole", h.Name)
		}
	}
}

// No input makes decoding fail in another way than by its error, and what it is answered is one JSON object or nothing.
func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.txtar")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(b), "-- input.json --\n")
		input, _, _ := strings.Cut(rest, "-- event --\n")
		f.Add([]byte(input), input)
	}
	f.Fuzz(func(t *testing.T, input []byte, said string) {
		h, ev, err := Decode("", input, nothing)
		if h == nil || err == nil && ev.Name == "" {
			t.Fatalf("host %v, event %+v, error %v", h, ev, err)
		}
		r := Encode(h, ev.Name, []loop.Decision{{Outcome: "continued", Reason: said, Notice: said, Note: said, Err: err, Log: []string{said}}}, AsJSON)
		if r.Status != 0 || len(r.Stdout) > 0 && (decoded[m](r.Stdout) == nil || strings.Count(string(r.Stdout), "\n") != 1) {
			t.Fatalf("answer %+v", r)
		}
	})
}
