package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// session reads a session file of the given lines.
func session(t testing.TB, lines ...string) *host.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := host.ReadSession(t.Context(), path, host.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Lines of Claude Code's session files.
func userSays(text string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%q}}`, text)
}

func agentSays(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`, text)
}

func agentUses(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, id, tool, input)
}

func toolSays(id, text string, failed bool) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%v}]}}`, id, text, failed)
}

func TestConversation(t *testing.T) {
	s := session(t,
		userSays("First question"),
		agentSays("First answer"),
		userSays("Build it."),
		agentSays("I run the tests."),
		agentUses("t1", "Bash", `{"command":"go test ./..."}`),
		toolSays("t1", "ok  all", false),
		agentUses("t2", "Write", `{}`),
		toolSays("t2", "no permission", true),
		`{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"a subagent"}]}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}`,
		`{"type":"system","content":"noise"}`,
		agentSays("Done."),
		`{"type":"assistant","mess`,
	)
	want := []host.Exchange{
		{Role: "user", Text: "First question"},
		{Role: "assistant", Text: "First answer"},
		{Role: "user", Text: "Build it."},
		{Role: "assistant", Text: "I run the tests.\n" +
			"[used Bash: {\"command\":\"go test ./...\"}]\n[result: ok  all]\n" +
			"[used Write]\n[failed: no permission]\nDone."},
	}
	if diff := cmp.Diff(want, s.Conversation(t.Context(), 3, true)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[2:], s.Conversation(t.Context(), 2, true)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, s.Conversation(t.Context(), 100, true)); diff != "" {
		t.Error(diff)
	}
	if got := s.Conversation(t.Context(), 0, true); got != nil {
		t.Errorf("no exchange is %q", got)
	}
}

// What a hook wrote begins no turn: the agent's answers to one prompt are one exchange, whatever continued it.
func TestConversationIsBetweenUserAndAgent(t *testing.T) {
	for name, lines := range map[string][]string{
		"claude": {
			userSays("Build it."), agentSays("One."), feedback("Go on."), agentSays("Two."),
			`{"type":"attachment","attachment":{"type":"hook_additional_context","hookEvent":"Stop","content":["Go on."]}}`, agentSays("Three."),
		},
		"codex": {
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Build it."}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One."}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_prompt>Go on.</hook_prompt>"}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two."}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_prompt>Go on.</hook_prompt>"}]}}`,
			`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Three."}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := []host.Exchange{
				{Role: "user", Text: "Build it."},
				{Role: "assistant", Text: "One.\n[continued by a hook]\nTwo.\n[continued by a hook]\nThree."},
			}
			if diff := cmp.Diff(want, session(t, lines...).Conversation(t.Context(), 1, false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// By default no tool result is shown: neither in its own records nor in the agent's message, where services put search
// results.
func TestConversationWithoutResults(t *testing.T) {
	for name, lines := range map[string][]string{
		"claude": {
			userSays("Build it."), agentUses("t1", "Bash", `{"command":"cat .env"}`), toolSays("t1", "SECRET", false),
			agentUses("t2", "Read", `{}`), toolSays("t2", "SECRET", true),
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":[{"type":"text","text":"SECRET"}]},{"type":"text","text":"SECRET"}]},"toolUseResult":{"stdout":"SECRET"}}`,
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"web_search_tool_result","content":[{"type":"text","text":"SECRET"}]},{"type":"text","text":"Done."}]}}`,
		},
		"codex": {
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Build it."}]}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"Bash","arguments":"{\"command\":\"cat .env\"}","call_id":"c1"}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"SECRET"}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"Read","arguments":"{}","call_id":"c2"}}`,
			`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := []host.Exchange{{Role: "user", Text: "Build it."}, {Role: "assistant", Text: "[used Bash: {\"command\":\"cat .env\"}]\n[used Read]\nDone."}}
			s := session(t, lines...)
			if diff := cmp.Diff(want, s.Conversation(t.Context(), 9, false)); diff != "" {
				t.Error(diff)
			}
			if got := s.Conversation(t.Context(), 9, true); !strings.Contains(got[1].Text, "SECRET") {
				t.Errorf("asked for, they are not shown: %q", got)
			}
		})
	}
}

// A tool's input is shown from its beginning and its result from its end: the question, and how it ended.
func TestConversationCutsTools(t *testing.T) {
	long := strings.Repeat("é", 3000)
	s := session(t, userSays("go"),
		agentUses("t", "Bash", fmt.Sprintf(`{"command":"begin %s end"}`, long)),
		toolSays("t", "begin "+long+" end", false),
		agentSays("Done."))
	got := s.Conversation(t.Context(), 1, true)
	if len(got) != 2 {
		t.Fatalf("got %q", got)
	}
	text := got[1].Text
	use, rest, _ := strings.Cut(text, "\n")
	if !strings.Contains(use, "begin") || strings.Contains(use, "end") || strings.Contains(rest, "begin") || !strings.Contains(rest, " end]") {
		t.Errorf("the excerpt is %q", text)
	}
	if len(text) > 1000 {
		t.Errorf("it has %d bytes", len(text))
	}
}

func TestConversationOfCodex(t *testing.T) {
	s := session(t,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"go test\"]}","call_id":"c1"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Exit code: 0\nok"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}`)
	want := []host.Exchange{{Role: "user", Text: "go"}, {Role: "assistant", Text: `[used shell: {"command":["bash","-lc","go test"]}]` + "\n[result: Exit code: 0\nok]\nDone."}}
	if diff := cmp.Diff(want, s.Conversation(t.Context(), 5, true)); diff != "" {
		t.Error(diff)
	}
}

func TestConversationOfPlainText(t *testing.T) {
	s := session(t, "All is done.", "Really.")
	want := []host.Exchange{{Role: "assistant", Text: "All is done.\nReally."}}
	got := s.Conversation(t.Context(), 3, true)
	for i := range got {
		got[i].Text = strings.TrimSpace(got[i].Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzSessionTells(f *testing.F) {
	f.Add([]byte(agentUses("t", "Bash", `{"command":"x"}`) + "\n" + toolSays("t", "ok", false)))
	f.Add([]byte(`{"toolUseResult":{"newTodos":[{"content":"a","status":"pending"}]},"type":"user","message":{}}`))
	f.Add([]byte(`{"type":"response_item","payload":{"type":"x_call","arguments":"{\"cmd\":[","call_id":1}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s := session(t, userSays("go"), string(line), agentSays("Done."))
		for _, e := range s.Conversation(t.Context(), 3, true) {
			if e.Role != "user" && e.Role != "assistant" || len(e.Text) > 100<<10 {
				t.Errorf("an exchange of %q with %d bytes", e.Role, len(e.Text))
			}
		}
		s.Tasks(t.Context())
		for _, a := range s.Actions() {
			if (a.Command == "") == (len(a.Edits) == 0) {
				t.Error("an action is a command or edits")
			}
		}
	})
}
