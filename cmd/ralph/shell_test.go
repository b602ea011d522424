package main

import (
	"runtime"
	"slices"
	"testing"
)

// Words that were made a shell line are read as the same words.
func FuzzShellWords(f *testing.F) {
	f.Add("ralph", ".ralph/my policy.yaml", "it's")
	f.Add("/opt/a b/ralph", "--set", `x="$HOME" & \`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if runtime.GOOS == "windows" {
			t.Skip("cmd.exe has no way to write every word")
		}
		want := []string{a, b, c}
		if got := shellWords(shellLine(want)); !slices.Equal(got, want) {
			t.Errorf("%q became %q and then %q", want, shellLine(want), got)
		}
	})
}
