package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal the typed line is the approval of the command. It asks which of several agents to continue, before another
// command replaces one, and before it writes a file that git tracks.
func TestUntilOnTerminal(t *testing.T) {
	for _, tt := range []struct {
		name    string
		hosts   []string // directories in the home directory
		command string
		earlier string // a command for which a loop waits
		typed   string
		asks    string // "" is nothing
		status  int
		waits   string // the command for which a loop waits then
		in      string // the settings with the entry
	}{
		{"one agent", []string{".claude"}, "false", "", "", "", exitOK, "false", "project/.claude/settings.local.json"},
		{"the first of two", []string{".claude", ".codex"}, "false", "", "1\n", "Continue which agent? [1-2] ", exitOK, "false", "project/.claude/settings.local.json"},
		{"the second of two", []string{".claude", ".codex"}, "false", "", "2\n", "Continue which agent? [1-2] ", exitOK, "false", "home/.codex/hooks.json"},
		{"none of two", []string{".claude", ".codex"}, "false", "", "3\n", "Continue which agent? [1-2] ", exitFailed, "", ""},
		{"the end of the input", []string{".claude", ".codex"}, "false", "", "\x04", "Continue which agent? [1-2] ", exitFailed, "", ""},
		{"the same command", []string{".claude"}, "false", "false", "", "", exitOK, "false", "project/.claude/settings.local.json"},
		{"another command", []string{".claude"}, "exit 2", "false", "y\n", "Replace `false`, for which .ralph/until.yaml waits? [y/N] ", exitOK, "exit 2", "project/.claude/settings.local.json"},
		{"not another command", []string{".claude"}, "exit 2", "false", "n\n", "Replace `false`, for which .ralph/until.yaml waits? [y/N] ", exitFailed, "false", "project/.claude/settings.local.json"},
		{"another command that passes", []string{".claude"}, "true", "false", "", "", exitOK, "false", "project/.claude/settings.local.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			work, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range append([]string{"../project"}, tt.hosts...) {
				if err := os.MkdirAll(filepath.Join(work, "home", dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			ralph := func(typed string, args ...string) (status int, errs string) {
				t.Helper()
				outer, inner := openTerminal(t)
				defer inner.Close()
				if _, err := outer.WriteString(typed); err != nil {
					t.Fatal(err)
				}
				var out, written strings.Builder
				a := &app{stdin: inner, stdout: &out, stderr: &written, getenv: func(name string) string {
					return map[string]string{"RALPH_STATE_DIR": filepath.Join(work, "state"), "HOME": filepath.Join(work, "home")}[name]
				}}
				status = a.run(t.Context(), append([]string{"until", "--project", filepath.Join(work, "project")}, args...))
				return status, written.String()
			}
			if tt.earlier != "" {
				if status, errs := ralph("", tt.earlier); status != exitOK {
					t.Fatalf("the first one: status %d\n%s", status, errs)
				}
			}
			status, errs := ralph(tt.typed, tt.command)
			if status != tt.status || !strings.Contains(errs, tt.asks) || tt.asks == "" && errs != "" {
				t.Errorf("status %d, want %d; it asks\n%s\nwant %q", status, tt.status, errs, tt.asks)
			}
			state, _ := os.ReadFile(filepath.Join(work, "project/.ralph/until.json"))
			if want := `"command": "` + tt.waits + `"`; !strings.Contains(string(state), want) && tt.waits != "" || tt.waits == "" && state != nil {
				t.Errorf("the loop is %s, want %s", state, want)
			}
			for _, file := range []string{"project/.claude/settings.local.json", "home/.codex/hooks.json"} {
				settings, _ := os.ReadFile(filepath.Join(work, file))
				if n := strings.Count(string(settings), " eval --policy until "); (n == 1) != (file == tt.in) || n > 1 {
					t.Errorf("%s has %d entries\n%s", file, n, settings)
				}
			}
		})
	}
}
