//go:build hosts

package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newcomer returns a scene of a person with Claude Code and no configuration of it.
func newcomer(t *testing.T) *scene {
	t.Helper()
	if _, err := os.Stat(filepath.Join(clientsDir, "node_modules", claude.program)); err != nil {
		t.Skip("Claude Code is not installed: ", err)
	}
	s := newScene(t, claude)
	s.program(filepath.Join(s.home, "bin", "claude"), "exec '"+filepath.Join(clientsDir, "node_modules", claude.program)+`' "$@"`)
	s.env = append(s.env, "PATH="+filepath.Join(s.home, "bin")+":"+filepath.Dir(ralphProgram)+":"+os.Getenv("PATH"))
	return s
}

// The first hour, as the pages for newcomers are written: each command works, and the agent ticks one box after the other.
func TestHourOfReading(t *testing.T) {
	for page, section := range map[string]string{"README.md": "## A loop in a minute\n", "docs/first-loop.md": "# A first loop in five minutes\n"} {
		t.Run(page, func(t *testing.T) {
			s := newcomer(t)
			text := s.read(filepath.Join(above(t), page))
			_, text, found := strings.Cut(text, section)
			if !found {
				t.Fatalf("%s has no section %q", page, section)
			}
			if strings.HasPrefix(section, "## ") {
				text, _, _ = strings.Cut(text, "\n## ")
			}
			const first, second = "- [ ] write hello.txt with a greeting in it\n", "- [ ] add the date on a second line\n"
			started := s.follow(text, func(r request) reply {
				switch r.n {
				case 2:
					s.write("hello.txt", "Hello.\n")
					s.write("TODO.md", strings.Replace(first, "[ ]", "[x]", 1)+second)
				case 3:
					s.write("TODO.md", strings.ReplaceAll(first+second, "[ ]", "[x]"))
				}
				return reply{text: fmt.Sprintf("Worked %d.", r.n)}
			})
			s.wants(started, "Work through TODO.md", first, second)
		})
	}
}

// above returns the root of the module.
func above(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// follow does what a page describes: it writes its files, runs its commands, which must succeed, and starts the client as it does.
func (s *scene) follow(page string, model script) (started result) {
	s.t.Helper()
	lang, file, text := "", "", ""
	for line := range strings.Lines(page) {
		name, named := strings.CutPrefix(line, "<!-- file: ")
		fence, isFence := strings.CutPrefix(line, "```")
		command, typed := strings.CutPrefix(line, "$ ")
		prompt, starts := strings.CutPrefix(line, `claude "`)
		switch {
		case named:
			file = strings.TrimSuffix(name, " -->\n")
		case isFence && lang == "":
			lang, text = strings.TrimSpace(fence), ""
		case isFence:
			if file != "" {
				s.write(file, text)
			}
			lang, file = "", ""
		case lang == "console" && typed:
			here := filepath.Join(s.home, "here")
			out := s.command("sh", "-c", command+"pwd > '"+here+"'")
			s.t.Logf("$ %s%s", command, out)
			s.dir = strings.TrimSpace(s.read(here))
		case lang == "sh" && starts:
			started = s.run(strings.TrimSuffix(prompt, "\"\n"), model)
		default:
			text += line
		}
	}
	return started
}

// A wish is what a newcomer wants of a loop. What the person does for it is counted: commands of ralph, and files.
type wish struct {
	name            string
	commands        []string
	edits           map[string]string // files that the person writes
	mostly, editing int               // how many commands and edits the wish may take
	model           func(s *scene) script
	prompt          string   // of the person
	wants           []string // what the model gets
	log             string   // why it is done
}

// Four wishes of a newcomer, on a machine without configuration: a real client is continued until each has come true,
// and no longer.
func TestHourOfWishes(t *testing.T) {
	const work, box = "Make it work.", "- [ ] write hello.txt\n"
	worked := func(file, text string) func(s *scene) script { // at the second answer
		return func(s *scene) script {
			return func(r request) reply {
				if r.n == 2 {
					s.write(file, text)
				}
				return reply{text: "Worked."}
			}
		}
	}
	for _, w := range []wish{
		{
			name:     "the tests pass",
			commands: []string{"ralph until 'sh test.sh' --yes"},
			mostly:   2, model: worked("parser", "x\n"),
			prompt: work, wants: []string{work, "no parser yet"}, log: "`sh test.sh` passes",
		},
		{
			name:     "a file exists",
			commands: []string{"ralph until 'test -f report.md' --yes"},
			mostly:   2, model: worked("report.md", "x\n"),
			prompt: work, wants: []string{work, "`test -f report.md` fails"}, log: "`test -f report.md` passes",
		},
		{
			name:     "the agent promises",
			commands: []string{"ralph install claude-code --policy ralph-wiggum", "ralph start ralph-wiggum '" + work + "' --promise GREEN"},
			mostly:   2, model: func(*scene) script {
				return func(r request) reply {
					if r.n == 2 {
						return reply{text: "It works.\n\n<promise>GREEN</promise>"}
					}
					return reply{text: "Worked."}
				}
			},
			prompt: work, wants: []string{work, "<promise>GREEN</promise>"}, log: "the promise was kept",
		},
		{
			name:     "a checklist",
			commands: []string{"ralph init", "ralph install claude-code"},
			edits:    map[string]string{"TODO.md": box},
			mostly:   3, editing: 1, model: worked("TODO.md", strings.Replace(box, "[ ]", "[x]", 1)),
			prompt: work, wants: []string{work, box}, log: "every box in TODO.md is ticked",
		},
	} {
		t.Run(w.name, func(t *testing.T) {
			s := newcomer(t)
			s.write("test.sh", "test -f parser || { echo no parser yet; exit 1; }\n") // the person's project has it already
			if len(w.commands) > w.mostly || len(w.edits) > w.editing {
				t.Errorf("%d commands and %d edits, want at most %d and %d", len(w.commands), len(w.edits), w.mostly, w.editing)
			}
			for _, line := range w.commands {
				t.Logf("$ %s\n%s", line, s.command("sh", "-c", line))
			}
			for name, text := range w.edits {
				s.write(name, text)
			}
			s.wants(s.run(w.prompt, w.model(s)), w.wants...)
			lines := strings.Split(strings.TrimSpace(s.ralph("log")), "\n")[1:] // below the head
			if last := lines[len(lines)-1]; len(lines) != len(w.wants) || strings.Fields(last)[3] != "done" || !strings.Contains(last, w.log) {
				t.Errorf("want %d decisions, the last one done by %q:\n%s", len(w.wants), w.log, strings.Join(lines, "\n"))
			}
			s.asked = nil // tomorrow's session is not continued
			s.wants(s.run("And now?", func(request) reply { return reply{text: "Nothing."} }), "And now?")
		})
	}
}
