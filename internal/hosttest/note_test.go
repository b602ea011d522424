//go:build hosts

package hosttest

import (
	"path/filepath"
	"strings"
	"testing"
)

// The agent sees a note beside the prompt. At a stop the same note does not continue it: the user sees it.
func TestNote(t *testing.T) {
	for _, c := range append(all[:len(all):len(all)], kimi) {
		t.Run(c.host, func(t *testing.T) {
			s := newScene(t, c)
			policy := filepath.Join(s.home, "hint.yaml")
			s.write(policy, "ralph: 1\nevents: [UserPromptSubmit, Stop]\nrules:\n  - {name: hint, note: Keep the tests green.}\n")
			install := []string{"install", c.host, "--policy", policy}
			if c.host == kimi.host {
				install = append(install, "--scope", "user")
			}
			s.ralph(install...)
			s.trust()
			s.wants(s.run("Do it.", func(request) reply { return reply{text: "Done."} }), "Do it.")
			if !strings.Contains(s.asked[0].last, "Keep the tests green.") {
				t.Errorf("the model was asked %q", s.asked[0].last)
			}
			if log := s.ralph("log"); strings.Count(log, "note by hint") != 2 || !strings.Contains(log, "stopped") {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

// At a stop, Claude Code takes additionalContext as a continuation, so that a note cannot be sent in it.
func TestContextAtStop(t *testing.T) {
	s := newScene(t, claude)
	once := filepath.Join(s.home, "once")
	hook := filepath.Join(s.home, "bin", "hint")
	s.program(hook, `[ ! -e `+once+` ] || exit 0
touch `+once+`
echo '{"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "Keep the tests green."}}'`)
	s.write(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "`+hook+`"}]}]}}`)
	s.wants(s.run("Do it.", func(request) reply { return reply{text: "Done."} }), "Do it.", "Keep the tests green.")
}
