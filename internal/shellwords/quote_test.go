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
