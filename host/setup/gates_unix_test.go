//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-sdk/ralph/internal/hookfile"
)

// A codex that PATH finds in the project is not started: the author of a repository could have
// put it there, and directories such as node_modules/.bin are on the PATH of many.
func TestCodexOfTheProjectIsNotStarted(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, outside, mark := filepath.Join(base, "project"), filepath.Join(base, "outside"), filepath.Join(base, "mark")
	for _, dir := range []string{filepath.Join(project, "bin"), outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(project, "bin", "codex")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n: > "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(outside, "codex")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Dir(program), outside} {
		t.Setenv("PATH", dir)
		if _, err := listHooks(t.Context(), project, &hookfile.Trust{List: []string{"codex", "app-server"}}); err == nil {
			t.Errorf("PATH=%s: it listed hooks", dir)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("PATH=%s: it was started", dir)
		}
	}
}
