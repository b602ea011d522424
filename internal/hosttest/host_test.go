//go:build hosts

package hosttest

import (
	"fmt"
	"path/filepath"
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
  - {name: next, continue: "Open boxes: ${len(open)}. Next is ${open[0].text}."}
`

// The agent is continued with the next box of a list until all are ticked, and then ends. After uninstall ralph is not asked.
func TestLoop(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.install(checklist)
		s.write("TODO.md", "- [ ] write hello.txt\n- [ ] add the date\n")
		s.run("Work through TODO.md", func(r request) reply {
			switch r.n {
			case 2:
				s.write("TODO.md", "- [x] write hello.txt\n- [ ] add the date\n")
			case 3:
				s.write("TODO.md", "- [x] write hello.txt\n- [x] add the date\n")
			}
			return reply{text: fmt.Sprintf("Worked %d.", r.n)}
		}, "Open boxes: 2. Next is write hello.txt.", "Open boxes: 1. Next is add the date.")
		s.logs("continued", "continued", "done")
		s.command(ralphProgram, "uninstall", s.host)
		s.write("TODO.md", "- [ ] one\n")
		s.run("And now?", says("Nothing."))
	})
}

// says is a model with one answer.
func says(text string) func(request) reply {
	return func(request) reply { return reply{text: text} }
}

// With nothing to do the agent stops, and the person sees nothing of ralph.
func TestIdle(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.install("ralph: 1\nrules:\n  - {name: never, when: exists(\"never\"), continue: Go on.}\n")
		if out := s.run("Say hello.", says("Hello there.")); strings.Contains(out, "ralph") {
			t.Errorf("the person sees\n%s", out)
		}
		s.logs("idle")
	})
}

// A limit of the policy ends a loop that has no other end. The next prompt has its own count.
func TestLimit(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.install("ralph: 1\nlimits: {continuations: 2}\nrules:\n  - {name: more, continue: More.}\n")
		s.run("Begin.", says("Still red."), "More.", "More.")
		s.logs("continued", "continued", "limit")
	})
}

// A note is beside the prompt when the model sees it, and continues nothing.
func TestNote(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.install("ralph: 1\nrules:\n  - {name: hint, note: Keep the tests green.}\n")
		s.run("Do it.", says("Done."))
		if !strings.Contains(s.asked[0].last, "Keep the tests green.") {
			t.Errorf("the model is asked\n%s", s.asked[0].last)
		}
	})
}

// A policy with SubagentStop continues a subagent, and not the agent that started it.
func TestSubagent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if s.agent == nil {
			t.Skip("it asks no hook when a subagent ends")
		}
		s.install("ralph: 1\nevents: [SubagentStop]\nrules:\n  - {name: tests, when: not said(\"TESTED\"), continue: Run the tests and say TESTED.}\n")
		s.run("Have it built.", func(r request) reply {
			switch {
			case strings.Contains(r.last, "Run the tests"):
				return reply{text: "TESTED"}
			case strings.Contains(r.last, "Build it."):
				return reply{text: "Built."}
			case strings.Contains(r.last, "TESTED"):
				return reply{text: "It is built."}
			}
			return *s.agent
		}, "Build it.", "Run the tests and say TESTED.", "TESTED")
		s.logs("continued", "idle")
	})
}

// The session file shows what the agent ran and edited, and how that ended.
func TestSessionFile(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if s.edit == nil {
			t.Skip("ralph does not read the tools in its session file")
		}
		s.install(`ralph: 1
rules:
  - {name: green, when: transcript.passed_since_edit("true tests"), done: "it used ${len(transcript.tools)} tools"}
  - {name: red, continue: Run the tests.}
`)
		replies := []reply{s.shell("true tests"), s.edit(s.path("made.txt")), {text: "Made."}, s.shell("false tests"), s.shell("true tests"), {text: "Tested."}}
		s.run("Make it.", func(r request) reply { return replies[r.n-1] }, "", "", "Run the tests.", "", "")
		s.logs("continued", "done")
	})
}

// A program that crashes before any code of it runs ends with status 2, which hosts take for a continuation. The entry of ralph install
// lets the agent stop.
func TestCrash(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.install("ralph: 1\nrules:\n  - {name: more, continue: More.}\n")
		broken := filepath.Join(s.home, "broken")
		s.write(filepath.Join(broken, "ralph"), "#!/bin/sh\ntouch "+broken+"/ran\necho 'fatal error: out of memory' >&2\nexit 2\n")
		for i, v := range s.env {
			if path, ok := strings.CutPrefix(v, "PATH="); ok {
				s.env[i] = "PATH=" + broken + ":" + path
			}
		}
		s.run("Do it.", says("Done."))
		s.command("test", "-e", filepath.Join(broken, "ran"))
	})
}
