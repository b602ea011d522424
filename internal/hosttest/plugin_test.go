//go:build hosts

package hosttest

import (
	"path/filepath"
	"strings"
	"testing"
)

// plugins says how a client validates and installs the plugin of this repository, which is at ROOT.
var plugins = []struct {
	client   client
	commands [][]string // of the client's program
	args     []string   // with which it runs the plugin's hook in a project that is new to it
	slash    bool       // it has /ralph:start; else its commands are skills
	remove   []string
	env      string
}{
	{
		client: claude,
		commands: [][]string{
			{"plugin", "validate", "--strict", "ROOT"},
			{"plugin", "validate", "--strict", "ROOT/plugins/ralph"},
			{"plugin", "marketplace", "add", "ROOT"},
			{"plugin", "install", "ralph@ralph"},
		},
		slash:  true,
		remove: []string{"plugin", "uninstall", "ralph@ralph"},
	},
	{
		client: codex,
		commands: [][]string{
			{"plugin", "marketplace", "add", "ROOT"},
			{"plugin", "add", "ralph@ralph"},
		},
		remove: []string{"plugin", "remove", "ralph@ralph"},
		args:   []string{"--dangerously-bypass-hook-trust"}, // as if the user had trusted it in /hooks
	},
	{
		client: gemini,
		commands: [][]string{
			{"extensions", "validate", "ROOT/plugins/gemini"},
			{"extensions", "install", "ROOT/plugins/gemini", "--consent"},
		},
		slash:  true,
		remove: []string{"extensions", "uninstall", "ralph"},
		env:    "GEMINI_CLI_TRUST_WORKSPACE=true",
	},
}

// A plugin is valid and installs without a network; its hook evaluates the project's policy, and its commands exist.
// After it is removed, the hook no longer runs.
func TestPlugin(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plugins {
		t.Run(p.client.host, func(t *testing.T) {
			s := newScene(t, p.client)
			if p.env != "" {
				s.env = append(s.env, p.env)
			}
			for _, words := range p.commands {
				var args []string
				for _, word := range words {
					args = append(args, strings.Replace(word, "ROOT", root, 1))
				}
				s.command(filepath.Join(clientsDir, "node_modules", p.client.program), args...)
			}
			s.ralph("init")
			s.write("TODO.md", "- [ ] write hello.txt\n")
			r := s.run("Say hello.", func(q request) reply {
				if q.n > 1 {
					s.write("TODO.md", "- [x] write hello.txt\n")
				}
				return reply{text: "Hello there."}
			}, p.args...)
			if len(s.asked) != 2 || !strings.Contains(s.asked[1].last, "write hello.txt") {
				t.Fatalf("the model was asked %d times, want 2 with the open item in the second\n%+v\n%s", len(s.asked), s.asked, r.out)
			}
			if log := s.ralph("log"); !strings.Contains(log, "continued") || !strings.Contains(log, "done") {
				t.Errorf("the log lacks the decisions:\n%s", log)
			}
			if start := "source-command-start: Start a loop"; !p.slash && !strings.Contains(s.asked[0].text, start) {
				t.Errorf("the agent does not know the skill %s", start)
			} else if p.slash {
				s.asked = nil
				s.wants(s.run("/ralph:start --max 3 Sing a song.", func(request) reply { return reply{text: "Done."} }, p.args...), "Start a loop of ralph")
				if !strings.Contains(s.asked[0].last, "--max 3 Sing a song.") {
					t.Errorf("the command does not say what to start:\n%s", s.asked[0].last)
				}
			}
			s.command(filepath.Join(clientsDir, "node_modules", p.client.program), p.remove...)
			s.write("TODO.md", "- [ ] write hello.txt\n")
			s.asked = nil
			s.wants(s.run("And now?", func(request) reply { return reply{text: "Nothing."} }, p.args...), "And now?")
		})
	}
}

// Without ralph, the agent stops, and its user learns how to install it.
func TestPluginWithoutRalph(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t, claude)
	program := filepath.Join(clientsDir, "node_modules", claude.program)
	s.command(program, "plugin", "marketplace", "add", root)
	s.command(program, "plugin", "install", "ralph@ralph")
	s.ralph("init")
	s.write("TODO.md", "- [ ] write hello.txt\n")
	s.env = append(s.env, "PATH=/usr/bin:/bin")
	r := s.run("Say hello.", func(request) reply { return reply{text: "Hello there."} }, "--output-format", "stream-json", "--verbose", "--include-hook-events")
	if r.status != 0 || len(s.asked) != 1 || !strings.Contains(r.out, "there is no ralph on the PATH") {
		t.Errorf("status %d, the model was asked %d times\n%s", r.status, len(s.asked), r.out)
	}
}
