package shellwords_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// Words that were made a shell line are read as the same words.
func FuzzLine(f *testing.F) {
	f.Add("ralph", ".ralph/my policy.yaml", "it's")
	f.Add("/opt/a b/ralph", "--set", `x="$HOME" & \`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if runtime.GOOS == "windows" {
			t.Skip("cmd.exe has no way to write every word")
		}
		want := []string{a, b, c}
		line := shellwords.Line(want)
		var got, raw []string
		for _, word := range shellwords.Split(line) {
			got, raw = append(got, word.Text), append(raw, word.Raw)
		}
		if !slices.Equal(got, want) || strings.Join(raw, " ") != line {
			t.Errorf("%q became %q and then %q, raw %q", want, line, got, raw)
		}
	})
}

// The program of a line for Windows does not begin with a quote, and is read as the same path.
func TestProgram(t *testing.T) {
	for path, want := range map[string]string{
		`C:\bin\ralph.exe`:           `C:\bin\ralph.exe`,
		`C:\my bin\ralph.exe`:        `C:\my" "bin\ralph.exe`,
		`C:\Program Files (x86)\a b`: `C:\Program" "Files" ("x86")"\a" "b`,
		`C:\(x)\ralph.exe`:           `C:"\("x")"\ralph.exe`,
		`C:\Jörg\ralph.exe`:          `C:\J"ö"rg\ralph.exe`,
	} {
		got := shellwords.Program("windows", path)
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
		if words := shellwords.Split(got + " eval"); len(words) != 2 || words[0].Text != path {
			t.Errorf("%s is read as %d words, %q", got, len(words), words[0].Text)
		}
	}
}
