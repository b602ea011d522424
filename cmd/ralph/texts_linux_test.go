package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The first decision of a policy keeps its text. A later one only checks once that it exists.
func TestKeptTextCostsOneStat(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	ralph := filepath.Join(t.TempDir(), "ralph")
	if self, err := os.Executable(); err != nil || os.Symlink(self, ralph) != nil {
		t.Fatal(err)
	}
	h := newHook(t, map[string]string{".ralph/policy.yaml": "ralph: 1\nrules: [{name: r, continue: again}]\n"}, "--policy", "policy")
	for n, want := range []bool{true, false} { // whether it is written
		calls := filepath.Join(t.TempDir(), "calls")
		traced := h
		traced.prepare = func(cmd *exec.Cmd) {
			cmd.Path, cmd.Args = strace, append([]string{"strace", "-f", "-s", "4096", "-e", "trace=%file", "-o", calls, ralph}, cmd.Args[1:]...)
		}
		if a := traced.run(t).answer(t); a.Decision != "block" {
			t.Fatalf("decision %d: %+v", n+1, a)
		}
		all, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		var about []string
		for line := range strings.Lines(string(all)) {
			if strings.Contains(line, filepath.Join(h.store, "policies")) {
				about = append(about, line)
			}
		}
		if wrote := strings.Contains(strings.Join(about, ""), "rename"); wrote != want || !want && (len(about) != 1 || !strings.Contains(about[0], "stat")) {
			t.Errorf("decision %d: %q", n+1, about)
		}
	}
}
