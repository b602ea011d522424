//go:build hosts

package hosttest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plugins says how a client takes the plugin of this repository, ROOT.
var plugins = []struct {
	host, add string
	slash     bool // it has /ralph:start; else its commands are skills
}{
	{"claude-code", "plugin validate --strict ROOT\nplugin validate --strict ROOT/packaging/plugins/ralph\nplugin marketplace add ROOT\nplugin install ralph@ralph", true},
	{"codex", "plugin marketplace add ROOT\nplugin add ralph@ralph", false},
	{"gemini", "extensions validate ROOT/packaging/plugins/gemini\nextensions install ROOT/packaging/plugins/gemini --consent", true},
}

// A plugin is valid, and installs without a network. A loop that ralph start begins repeats its prompt until the promise is kept. The
// command that begins one reaches the agent.
func TestPlugin(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plugins {
		for _, c := range clientRows {
			if c.host != p.host {
				continue
			}
			t.Run(p.host, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, c)
				program := filepath.Join(clientsDir, "node_modules", s.program)
				for line := range strings.Lines(strings.ReplaceAll(p.add, "ROOT", root)) {
					s.command(program, strings.Fields(line)...)
				}
				s.command(ralphProgram, "start", "ralph-wiggum", "Sing a song.")
				s.run("Begin.", func(r request) reply {
					if r.n < 3 {
						return reply{text: "La la."}
					}
					return reply{text: "It is sung.\n\n<promise>DONE</promise>"}
				}, "Sing a song.", "Sing a song.")
				s.logs("continued", "continued", "done")
				if skill := "start: Repeat a prompt until it is done"; !p.slash && !strings.Contains(s.asked[0].last, skill) { // Codex makes none of a command with $ARGUMENTS
					t.Errorf("the agent does not know the skill %s:\n%s", skill, s.asked[0].last)
				}
				if p.slash {
					s.script, s.asked = says("No."), nil
					s.command(program, append(slices.Clone(s.args), "/ralph:start Sing another.")...)
					if len(s.asked) != 1 || !strings.Contains(s.asked[0].last, "Start a loop of ralph") || !strings.Contains(s.asked[0].last, "Sing another.") {
						t.Errorf("the agent is not asked to start a loop: %+v", s.asked)
					}
				}
			})
		}
	}
}
