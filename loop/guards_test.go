package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// guarded is a policy that continues unless its one guard stops.
func guarded(guard, with string) string {
	s := "ralph: 1\nlimits: {continuations: 100}\nrules:\n  - include: ralph:guards/" + guard + "\n"
	if with != "" {
		s += "    with: {" + with + "}\n"
	}
	return s + "  - name: go-on\n    when: true\n    continue: Go on.\n"
}

// ran are the lines of a session in which the agent ran a command.
func ran(command string, failed bool) []string {
	use, _ := json.Marshal(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "tool_use", "id": "t", "name": "Bash", "input": map[string]any{"command": command}},
	}}})
	result, _ := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": "t", "content": "…", "is_error": failed},
	}}})
	return []string{string(use), string(result)}
}

func TestGuards(t *testing.T) {
	session := func(lines ...string) func(*project) host.Event {
		return func(p *project) host.Event { return p.talk(append([]string{human("Do it.")}, lines...)...) }
	}
	last := func(text string) func(*project) host.Event {
		return func(p *project) host.Event { ev := p.stop(); ev.LastAssistantMessage = text; return ev }
	}
	planning := func(p *project) host.Event { ev := p.stop(); ev.PermissionMode = "plan"; return ev }
	tokens := func(n int) func(*project) host.Event {
		return session(fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":%d,"output_tokens":1}}}`, n-1))
	}
	tasks := func(kind, status string) func(*project) host.Event {
		return func(p *project) host.Event {
			ev := p.stop()
			ev.BackgroundTasks = []map[string]any{{"id": "b", "type": kind, "status": status}}
			return ev
		}
	}
	crons := func(recurring ...bool) func(*project) host.Event {
		return func(p *project) host.Event {
			ev := p.stop()
			for _, r := range recurring {
				ev.SessionCrons = append(ev.SessionCrons, map[string]any{"id": "c", "recurring": r})
			}
			return ev
		}
	}
	asks := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{}}]}}`
	edits := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"e","name":"Edit","input":{"file_path":"a.go"}}]}}`
	const tested = `command: '"go test"'`
	for _, c := range []struct {
		name, guard, with string
		event             func(*project) host.Event
		want              string
	}{
		{"planning", "plan-mode", "", planning, "stop plan-mode/planning"},
		{"not planning", "plan-mode", "", last("x"), "Go on."},

		{"a subagent runs", "waiting", "", tasks("subagent", "running"), "stop waiting/background"},
		{"a subagent has ended", "waiting", "", tasks("subagent", "completed"), "Go on."},
		{"a server runs", "waiting", "", tasks("shell", "running"), "Go on."},
		{"a wake-up is set", "waiting", "", crons(false), "stop waiting/wake-up"},
		{"a wake-up comes again and again", "waiting", "", crons(true), "Go on."},
		{"one of each", "waiting", "", crons(true, false), "stop waiting/wake-up"},

		{"asked", "question", "", last("Two ways are open.\n\n**Which one do you want?**"), "stop question/asked"},
		{"asked with options", "question", "", last("Which do you want?\n\n1. A\n2. B"), "stop question/asked"},
		{"asked with options over lines", "question", "", last("**Which do you want?**\n\n(a) A,\n    because it is there\n(b) B\n"), "stop question/asked"},
		{"asked with bullets", "question", "", last("Shall I go on?\n- yes\n- no"), "stop question/asked"},
		{"options that answer a heading", "question", "", last("## What is new?\n\n- A\n- B"), "Go on."},
		{"a list after a statement", "question", "", last("Why not? I did:\n\n1. A\n2. B"), "Go on."},
		{"asked with the tool for it", "question", "", session(agent("I have to know more."), asks), "stop question/asked"},
		{"asked earlier", "question", "", last("Why not? I shall do it."), "Go on."},
		{"said nothing", "question", "", last(""), "Go on."},

		{"within the budget", "budget", "tokens: 1000", tokens(999), "Go on."},
		{"over the budget", "budget", "tokens: 1000", tokens(1000), "stop budget/spent"},

		{"passed", "verified", tested, session(ran("cd x && go test ./...", false)...), "Go on."},
		{"passed before an edit", "verified", tested, session(append(ran("go test ./...", false), edits)...), "go test has not passed"},
		{"passed after an edit", "verified", tested, session(append([]string{edits}, ran("go test ./...", false)...)...), "Go on."},
		{"failed", "verified", tested, session(ran("go test ./...", true)...), "go test has not passed"},
		{"hidden by a pipe", "verified", tested, session(ran("go test ./... | tail", false)...), "go test has not passed"},
		{"only said to have passed", "verified", tested, last("go test passed."), "go test has not passed"},
		{"claims nothing", "verified", tested + ", claim: 'said(\"DONE\")'", last("still at it"), "Go on."},
		{"claims to be done", "verified", tested + ", claim: 'said(\"DONE\")'", last("DONE"), "go test has not passed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			got := said(p.run(p.loop(guarded(c.guard, c.with)), c.event(p)))
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

// A loop whose progress does not change stops after three continuations.
func TestGuardStalled(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	l := p.loop(strings.Replace(guarded("stalled", ""), "rules:", "facts:\n  state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}\nprogress: state.n\nrules:", 1))
	var got []string
	for i := range 8 {
		if i == 2 {
			p.write("state.json", `{"n": 2}`)
		}
		got = append(got, said(p.run(l, p.turn("one"))))
	}
	want := []string{"Go on.", "Go on.", "Go on.", "Go on.", "Go on.", "stop stalled/no-progress", "Go on.", "Go on."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// double-shot-latte continues three times in five minutes, and asks no model beyond that.
func TestDoubleShotLatte(t *testing.T) {
	p := newProject(t, nil)
	p.env["HOME"] = t.TempDir()
	m := p.model(`{"should_continue": true, "reasoning": "A step was announced."}`)
	l := p.shipped("double-shot-latte")
	ev := p.talk(human("Build it."), agent("Next I write the tests."))
	for i, want := range []int{1, 2, 3, 3, 3, 4} {
		if i == 5 {
			p.now = p.now.Add(5 * time.Minute)
		}
		d := p.run(l, ev)
		if goesOn := i < 3 || i == 5; d.Continue() != goesOn || m.calls() != want {
			t.Errorf("stop %d: it says %q after %d questions, want %d", i+1, said(d), m.calls(), want)
		}
	}
	m.text = `{"should_continue": false}`
	if d := p.run(l, ev); d.Continue() {
		t.Errorf("a model that sees nothing left: it says %q", said(d))
	}
	p.env["CLAUDE_HOOK_JUDGE_MODE"] = "true"
	if d := p.run(l, ev); !d.Verdict.Cause.Untried() || m.calls() != 5 {
		t.Errorf("inside a judge: it says %q", said(d))
	}
}

// Without a key, double-shot-latte reports once per session why it asks no model.
func TestDoubleShotLatteWithoutKey(t *testing.T) {
	p := newProject(t, nil)
	m := p.model(`{"should_continue": true}`)
	p.env["ANTHROPIC_API_KEY"] = " "
	l := p.shipped("double-shot-latte")
	ev := p.talk(human("Build it."), agent("Next I write the tests."))
	for i, want := range [][]string{{"No model is asked whether there is more to do: ANTHROPIC_API_KEY is not set."}, nil, nil} {
		d := p.run(l, ev)
		if diff := cmp.Diff(want, d.Notices); d.Continue() || m.calls() != 0 || diff != "" {
			t.Errorf("stop %d: it says %q after %d questions, reports (-want +got)\n%s", i+1, said(d), m.calls(), diff)
		}
	}
}

// The params of the policies that ask a model choose it, and what it sees.
func TestParamsOfJudges(t *testing.T) {
	for _, name := range []string{"double-shot-latte", "system3"} {
		for _, results := range []string{"false", "true"} {
			p := newProject(t, nil)
			m := p.model(`{"should_continue": false}`)
			p.env["CLAUDE_SESSION_ID"] = metaSession
			l := p.shippedWith(name, map[string]string{"model": "another", "tool_results": results})
			lines := append([]string{human("Build it.")}, ran("cat notes", false)...)
			p.run(l, p.talk(append(lines, agent("Done."))...))
			asked := strings.Join(m.asked, "")
			if !strings.Contains(asked, `"model":"another"`) || !strings.Contains(asked, "[used Bash: ") || strings.Contains(asked, "[result: ") != (results == "true") {
				t.Errorf("%s with tool_results=%s: the model is asked %s", name, results, asked)
			}
		}
	}
}

// todo-reminder shows the agent its open todos when the user sends a prompt, beside a
// loop that does not decide prompts.
func TestTodoReminder(t *testing.T) {
	p := newProject(t, nil)
	p.env["HOME"] = t.TempDir()
	todos := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[` +
		`{"content":"write","status":"completed"},{"content":"test","status":"pending"},{"content":"ship","status":"in_progress"}]}}]}}`
	ev := p.talk(human("Build it."), todos, agent("Part of it is done."))
	ev.Name, ev.Prompt = host.UserPromptSubmit, "And now?"
	d := p.run(p.shipped("todo-reminder"), ev)
	told := strings.Join(d.Notes, "\n")
	if !strings.Contains(told, "Open todos (2):\n- ship (in_progress)\n- test (pending)") {
		t.Errorf("the agent is told %q", told)
	}
	for name, empty := range map[string]string{
		"no list": agent("hi"), "nothing pending": `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"write","status":"completed"}]}}]}}`,
	} {
		ev := p.talk(human("Build it."), empty)
		ev.Name = host.UserPromptSubmit
		if d := p.run(p.shipped("todo-reminder"), ev); len(d.Notes)+len(d.Notices) > 0 {
			t.Errorf("%s: the agent is told %q, the person %q", name, d.Notes, d.Notices)
		}
	}
	if d := p.run(p.shipped("stravinsky"), ev); !d.Verdict.Cause.Untried() {
		t.Error("a loop decides a prompt")
	}
}
