//go:build unix

package workspace_test

import (
	"os"
	"testing"

	"github.com/ralph-sdk/ralph/internal/workspace"
)

// A directory that others can write is not the project of a directory inside it, nor is
// one above it.
func TestAboveShared(t *testing.T) {
	for _, c := range []struct {
		mode      os.FileMode
		uid, gid  int // of the directory, -1 for those of the process
		want      string
		needsRoot bool
	}{
		{0o755, -1, -1, "top/shared", false},
		{0o757, -1, -1, "top/shared/sub", false},
		{0o777 | os.ModeSticky, -1, -1, "top/shared/sub", false},
		{0o775, -1, 54321, "top/shared/sub", true},
		{0o755, 54321, 54321, "top/shared", true}, // root may take another user's
	} {
		if c.needsRoot && os.Geteuid() != 0 {
			continue
		}
		in := tree(t, map[string]string{"top/.ralph/": "", "top/state": "", "top/shared/.ralph/": "", "top/shared/state": "", "top/shared/sub/": ""})
		if err := os.Chown(in("top/shared"), c.uid, c.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(in("top/shared"), c.mode); err != nil {
			t.Fatal(err)
		}
		for _, files := range [][]string{nil, {"state"}} {
			if got := workspace.Above(in("top/shared/sub"), files, homeAt("")); got != in(c.want) {
				t.Errorf("mode %v, owner %d:%d, files %q: %s", c.mode, c.uid, c.gid, files, got)
			}
		}
	}
}
