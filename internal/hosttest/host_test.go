//go:build hosts

package hosttest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const checklist = `ralph: 1
facts:
  todo: {checklist: TODO.md}
let:
  open: filter(todo, not .done)
rules:
  - {name: done, when: len(open) == 0, done: every box is ticked}
  - {name: next, continue: "Next is ${open[0].text}."}
`

// The agent is continued with the next box of a list until all are ticked, and then ends. After uninstall ralph is not asked.
func TestLoop(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		boxes := []string{"- [ ] write hello.txt\n", "- [ ] add the date\n"}[:s.atMost(2)]
		s.write("TODO.md", strings.Join(boxes, ""))
		s.install(checklist)
		want := []string{"Next is write hello.txt.", "Next is add the date."}[:len(boxes)]
		s.run("Work through TODO.md", func(r request) reply {
			if r.n > 1 {
				boxes[r.n-2] = strings.Replace(boxes[r.n-2], "[ ]", "[x]", 1)
				s.write("TODO.md", strings.Join(boxes, ""))
			}
			return reply{text: "Worked."}
		}, want...)
		outcomes := append(slices.Repeat([]string{"continued"}, len(boxes)), "done")
		if s.atMost(20) == 1 { // it asks no more
			outcomes = outcomes[:1]
		}
		s.logs(outcomes...)
		if s.uninstall() {
			s.write("TODO.md", "- [ ] one\n")
			s.run("And now?", says("Nothing."))
		}
	})
}

// says is a model with one answer.
func says(text string) func(request) reply {
	return func(request) reply { return reply{text: text} }
}

// With nothing to do the agent stops, and the person sees nothing of ralph. A program that crashes before any code of it runs ends with
// status 2, which hosts take for a continuation; the entry of ralph install lets the agent stop.
func TestIdle(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.install("ralph: 1\nrules:\n  - {name: unneeded, when: exists(\"unneeded\"), continue: Go on.}\n")
		if out := s.run("Say hello.", says("Hello there.")); strings.Contains(out, "unneeded") || strings.Contains(out, "policy.yaml") {
			t.Errorf("the person sees\n%s", out)
		}
		s.logs("idle")
		broken := filepath.Join(s.home, "broken")
		s.write(filepath.Join(broken, "ralph"), "#!/bin/sh\ntouch "+broken+"/ran\necho 'fatal error: out of memory' >&2\nexit 2\n")
		for i, v := range s.env {
			if path, ok := strings.CutPrefix(v, "PATH="); ok {
				s.env[i] = "PATH=" + broken + ":" + path
			}
		}
		if !s.row().Settings.TOML { // a person's entry has the full path
			s.run("Say hello.", says("Hello there."))
			s.command("test", "-e", filepath.Join(broken, "ran"))
		}
	})
}

// A limit of the policy ends a loop that has no other end. The model sees a note beside the prompt, and that begins no other count.
func TestLimit(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.install("ralph: 1\nlimits: {continuations: 2}\nrules:\n  - {name: hint, note: Keep it green.}\n  - {name: more, continue: More.}\n")
		s.run("Begin.", says("Still red."), slices.Repeat([]string{"More."}, s.atMost(2))...)
		if s.host != "droid" && !strings.Contains(s.asked[0].last, "Keep it green.") { // droid exec asks no hook at its prompt
			t.Errorf("the model is asked\n%s", s.asked[0].last)
		}
	})
}

// The host's own limit is as the table of hosts says.
func TestHostLimit(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		most := s.atMost(20)
		if most == 20 {
			t.Skip("it has no limit of its own")
		}
		s.install("ralph: 1\nrules:\n  - {name: more, continue: More.}\n")
		s.run("Begin.", says("Still red."), slices.Repeat([]string{"More."}, most)...)
	})
}

// A policy with SubagentStop continues a subagent, and not the agent that started it.
func TestSubagent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if s.agent == nil {
			t.Skip("it asks no hook when a subagent ends")
		}
		events, condition, outcomes := "[SubagentStop]", `not said("TESTED")`, []string{"continued", "idle"}
		if s.host == "droid" { // a session of its own, which asks at its Stop
			events, condition, outcomes = "[Stop, SubagentStop]", `agent_id != "" and `+condition, append(outcomes, "idle")
		}
		s.install("ralph: 1\nevents: " + events + "\nrules:\n  - {name: tests, when: '" + condition + "', continue: Run the tests and say TESTED.}\n")
		s.run("Have it built.", func(r request) reply {
			_, agent, started := strings.Cut(r.last, startedAgent)
			switch {
			case started && s.wait != nil:
				agent, _, _ = strings.Cut(agent, `"`)
				return s.wait(agent)
			case strings.Contains(r.last, "Run the tests"):
				return reply{text: "TESTED"}
			case strings.Contains(r.last, "Build it."):
				return reply{text: "Built."}
			case strings.Contains(r.last, "TESTED"):
				return reply{text: "It is built."}
			}
			return *s.agent
		}, "Build it.", "Run the tests and say TESTED.", "TESTED")
		s.logs(outcomes...)
	})
}

// The session file shows what the agent said since the last continuation and, of some hosts, what it ran and edited and how that ended.
func TestSessionFile(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if s.host == "kimi" {
			t.Skip("it says nothing of what the agent said")
		}
		rule, replies := `said("TESTED")`, []reply{{text: "Made."}, {text: "Tested:\n\nTESTED"}}
		want := []string{"Run the tests."}
		if s.edit != nil {
			rule += ` and transcript.passed_since_edit("true tests")`
			replies = []reply{s.shell("true tests"), s.edit(s.path("made.txt")), {text: "TESTED"}, s.shell("false tests"), s.shell("true tests"), {text: "TESTED"}}
			want = []string{"", "", "Run the tests.", "", ""}
		}
		s.install("ralph: 1\nrules:\n  - {name: green, when: '" + rule + "', done: it is tested}\n  - {name: red, continue: Run the tests.}\n")
		s.run("Make it.", func(r request) reply { return replies[min(r.n, len(replies))-1] }, want...)
		s.logs("continued", "done")
	})
}
