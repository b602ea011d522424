package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is excluded is no change of the clone, in the main work tree and in a linked one, and the line is written once.
func TestExclude(t *testing.T) {
	w := newWorld(t, "")
	w.sh(w.repo, "git worktree add -q ../linked -b linked")
	for _, top := range []string{w.repo, filepath.Join(filepath.Dir(w.repo), "linked")} {
		w.sh(top, "mkdir .claude; echo {} > .claude/settings.local.json")
		for range 2 {
			if err := Exclude(filepath.Join(top, ".claude", "settings.local.json")); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := Read(t.Context(), top, ".claude"); err != nil || s.Dirty {
			t.Errorf("%s: %+v, error %v", top, s, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(w.repo, ".git/info/exclude"))
	if n := strings.Count(string(b), "/.claude/settings.local.json\n"); n != 1 || err != nil {
		t.Errorf("%d lines, error %v", n, err)
	}
	if err := Exclude(filepath.Join(t.TempDir(), "file")); err != nil {
		t.Errorf("without a repository: %v", err)
	}
}
