package main

import (
	"path/filepath"
	"testing"
)

// A policy is approved under the path that it is loaded from, also if its name has a dot.
func TestPolicyPath(t *testing.T) {
	project := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(project); err == nil {
		project = resolved
	}
	for name, want := range map[string]string{
		"hello": ".ralph/hello.yaml", "v1.2": ".ralph/v1.2.yaml", "a.yaml": "a.yaml", "a.yml": "a.yml", "dir/a": "dir/a",
	} {
		if _, got := policyFile(project, name); got != filepath.Join(project, filepath.FromSlash(want)) {
			t.Errorf("%s: %s, want %s in the project", name, got, want)
		}
	}
}
