package project

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/shellwords"

	"github.com/ralph-sdk/ralph/rules"
)

// A command is a word of YAML, of the policy language and of a shell at once: it reaches the shell as it was typed.
func TestUntilKeepsCommand(t *testing.T) {
	for _, command := range []string{
		"go test ./...", `printf "%s\n" 'a b'`, "echo ${HOME} $${HOME} $HOME", "a: b # c", "- [x]", "two\nlines\ttab", `back\slash`, "é`x`", "{{.}} TEXT MAX",
	} {
		for _, hook := range []bool{true, false} {
			src := Until{Command: command, Max: 7, Took: time.Minute}.policy(hook)
			program, diags := rules.LoadBytes(t.Context(), "until.yaml", src, (&Project{}).Language())
			if err := diags.Err(); err != nil {
				t.Fatalf("%q: %v\n%s", command, err, src)
			}
			for _, f := range program.Facts() {
				if f.Name != "command" {
					continue
				}
				if want := append(shellwords.Shell(), strings.ReplaceAll(command, "${", "$${")); !cmp.Equal(f.Args, want) {
					t.Errorf("%q: the program is %q", command, f.Args)
				}
				if f.Timeout != 3*time.Minute || f.Covers == nil {
					t.Errorf("%q: it may take %s, and an approval covers %v", command, f.Timeout, f.Covers)
				}
			}
			if n := program.Limits().Continuations; n != 7 || (program.Loop() != nil) != hook || strings.Contains(string(src), "# hook") {
				t.Errorf("%q: limit %d, loop %v\n%s", command, n, program.Loop(), src)
			}
		}
	}
}

// What does not report whether it passes is no failure.
func TestTry(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	dir := t.TempDir()
	p, err := Open(Config{Dir: dir, State: t.TempDir(), Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const status = "it ended with the status "
	for _, tt := range []struct {
		command          string
		most             time.Duration
		passes, unusable bool
		text             string
	}{
		{"echo yes", maxTry, true, false, "yes"},
		{"echo no; echo why >&2; exit 1", maxTry, false, false, "no\nwhy"},
		{"exit 125", maxTry, false, false, ""},
		{"exit 126", maxTry, false, true, status + "126"},
		{"exit 127", maxTry, false, true, status + "127"},
		{"exit 137", maxTry, false, true, status + "137"},
		{"exit 255", maxTry, false, false, ""},
		{"kill -KILL $$", maxTry, false, true, status + "-1"},
		{"read line < /dev/zero", 50 * time.Millisecond, false, true, "sh did not end within 50ms"},
		{"printf '%s ' ${NO_SUCH_NAME:-none}", maxTry, true, false, "none"},
	} {
		got, err := p.try(t.Context(), tt.command, tt.most)
		if err != nil || got.Passes != tt.passes || got.Unusable != tt.unusable || !strings.HasPrefix(got.Text, tt.text) || tt.text == "" && got.Text != "" || got.Took <= 0 {
			t.Errorf("%s: %+v, %v", tt.command, got, err)
		}
	}
}
