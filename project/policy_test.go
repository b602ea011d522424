package project

import (
	"path/filepath"
	"testing"
)

// A policy is approved under the path that it is loaded from, also if its name has a dot.
func TestPolicyPath(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"hello": ".ralph/hello.yaml", "v1.2": ".ralph/v1.2.yaml", "a.yaml": "a.yaml", "a.yml": "a.yml", "dir/a": "dir/a",
	} {
		if _, got := policyFile(dir, name); got != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s: %s, want %s in the project", name, got, want)
		}
	}
}
