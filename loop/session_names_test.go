package loop_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// shows is a policy that reports the value of an expression.
func shows(expression string) string {
	return "ralph: 1\nlimits: {failures: 9}\nrules:\n  - name: show\n    continue: |-\n      ${" + expression + "}\n"
}

func TestNamesOfTheSession(t *testing.T) {
	edit := func(file string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"e","name":"Edit","input":{"file_path":%q}}],"usage":{"input_tokens":7}}}`, file)
	}
	const failure = `{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","message":{"role":"assistant","content":[{"type":"text","text":"Limit reached"}]}}`
	for _, c := range []struct {
		name, expression string
		lines            []string
		want             string
	}{
		{"tokens of all turns", `transcript.total_tokens`, []string{human("Go."), edit("a"), human("More."), edit("b")}, "14"},
		{"failed", `transcript.failed.kind + ": " + transcript.failed.text`, []string{human("Go."), failure}, "rate_limited: Limit reached"},
		{"did not fail", `transcript.failed == nil`, []string{human("Go."), agent("Done.")}, "true"},
		{"elapsed", `session.elapsed`, []string{`{"type":"user","timestamp":"TWOHOURSAGO","message":{"role":"user","content":"Go."}}`}, "2h0m0s"},
		{"a clock that went back", `session.elapsed`, []string{`{"type":"user","timestamp":"2999-01-01T00:00:00Z","message":{"role":"user","content":"Go."}}`}, "0s"},
		{"no session", `transcript.failed == nil and transcript.total_tokens == 0 and session.elapsed == duration("0s")`, nil, "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			var lines []string
			for _, line := range c.lines {
				lines = append(lines, strings.ReplaceAll(line, "TWOHOURSAGO", p.now.Add(-2*time.Hour).Format(time.RFC3339Nano)))
			}
			ev := p.stop()
			if lines != nil {
				ev = p.talk(lines...)
			}
			if got := said(p.run(p.loop(shows(c.expression)), ev)); got != c.want {
				t.Errorf("%s is %q, want %q", c.expression, got, c.want)
			}
		})
	}
}

// Policies know every kind of failure.
func TestKindsOfFailures(t *testing.T) {
	p := newProject(t, nil)
	for _, kind := range vocab.Failures() {
		l := p.loop(shows(`transcript.failed.kind == "`+kind+`"`), loop.WithValues(map[string]any{"transcript.failed": map[string]any{"kind": kind}}))
		if got := said(p.run(l, p.stop())); got != "true" {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// If a turn failed, the event itself has the reason.
func TestFailedOnStopFailure(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nevents: [StopFailure]\nrules:\n  - {name: reported, notice: '${transcript.failed.kind} ${error} ${error_details}'}\n")
	ev := p.stop()
	ev.Name, ev.Error, ev.ErrorDetails = host.StopFailure, "invalid_request", "Prompt is too long"
	if d := p.run(l, ev); len(d.Notices) != 1 || d.Notices[0] != "context_overflow invalid_request Prompt is too long" || d.Continue() {
		t.Errorf("it says %q and %q", said(d), d.Notices)
	}
}

// A host that cannot block a compaction is not answered, and nothing is counted there.
func TestPreCompactOfHosts(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nevents: [Stop, PreCompact]\nlimits: {continuations: 1}\nrules: [{name: go, continue: '${trigger}'}]\n")
	ev := p.stop()
	ev.Name, ev.Trigger = host.PreCompact, "auto"
	for _, c := range []struct{ host, trigger, want string }{
		{host.Codex, "manual", "stop"}, {host.Gemini, "auto", "stop"}, {host.ClaudeCode, "auto", "auto"}, {host.ClaudeCode, "manual", "stop limits.continuations"},
	} {
		ev.Host, ev.Trigger = c.host, c.trigger
		if got := said(p.run(l, ev)); got != c.want {
			t.Errorf("%s, %s: it says %q, want %q", c.host, c.trigger, got, c.want)
		}
	}
}

// Claude Code sends a SubagentStop without a type where it summarises the conversation.
func TestNoSubagent(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nevents: [SubagentStop]\nrules: [{name: go, continue: 'on, ${agent_type}'}]\n")
	for typ, want := range map[string]string{"": "stop", "Explore": "on, Explore"} {
		_, ev, err := host.Read(p.input(map[string]any{"hook_event_name": "SubagentStop", "agent_type": typ, "agent_id": "a"}), &host.Host{})
		if err != nil {
			t.Fatal(err)
		}
		d := p.run(l, ev)
		if got := said(d); got != want || (d.Verdict.Cause.Untried()) != (typ == "") || d.Verdict.Memory.Total > len(typ) {
			t.Errorf("type %q: it says %q, skipped %q", typ, got, d.Verdict.Reason)
		}
	}
}

// A session file that exists and cannot be read keeps a stop rule undecided. A path that leads to no file is not a conversation.
func TestSessionThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		when, last string
		undecided  bool
	}{
		{`said("DONE")`, "", true},
		{`promised("DONE")`, "", true},
		{`mentions("DONE")`, "", true},
		{`transcript.last == "DONE"`, "", true},
		{`"DONE" in transcript.texts`, "", true},
		{`transcript.total_tokens > 1000`, "still at it", true},
		{`transcript.passed("make")`, "still at it", true},
		{`len(transcript.turns(1)) > 3`, "still at it", true},
		{`transcript.failed != nil`, "", true},
		{`len(todo) > 3`, "still at it", true},
		{`said("DONE")`, "still at it", false},
		{`transcript.failed != nil`, "still at it", false},
		{`transcript.last == "DONE"`, "still at it", false},
	} {
		t.Run(c.when+" "+c.last, func(t *testing.T) {
			p := newProject(t, nil)
			l := p.loop(`
ralph: 1
facts:
  todo: {tasks: claude}
rules:
  - name: over
    when: '` + c.when + `'
    stop: It is over.
  - {name: go-on, continue: Go on.}`)
			ev := p.stop()
			ev.LastAssistantMessage = c.last
			if err := os.Symlink("circle.jsonl", p.path("circle.jsonl")); err != nil {
				t.Skip("no links here:", err)
			}
			for path, fault := range map[string]rules.Cause{p.path("circle.jsonl"): rules.FaultFact, p.path("gone.jsonl"): "", p.path(""): ""} {
				ev.TranscriptPath = path
				if !c.undecided {
					fault = ""
				}
				d := p.run(l, ev)
				if d.Verdict.Cause != fault || d.Continue() != (fault == "") || strings.Contains(strings.Join(d.Notices, "\n"), "too many levels of symbolic links") != (fault != "") {
					t.Errorf("%s: it goes on: %v, fault %q, notices %q", path, d.Continue(), d.Verdict.Cause, d.Notices)
				}
			}
		})
	}
}
