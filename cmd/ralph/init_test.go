package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/project"
)

// Every template makes a project whose policy has no finding and passes its tests.
func TestTemplates(t *testing.T) {
	for _, name := range project.PolicyTemplates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ralph := func(args ...string) {
				t.Helper()
				var out strings.Builder
				a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: func(name string) string {
					return map[string]string{"RALPH_STATE_DIR": filepath.Join(dir, "state"), "HOME": dir}[name]
				}}
				if status := a.run(context.Background(), args); status != exitOK {
					t.Errorf("ralph %s: status %d\n%s", strings.Join(args, " "), status, out.String())
				}
			}
			ralph("init", name, "--project", dir)
			policy, err := filepath.Glob(filepath.Join(dir, ".ralph", "*_test.yaml"))
			if err != nil || len(policy) != 1 {
				t.Fatal("it has no tests", err)
			}
			ralph("check", "--project", dir, strings.TrimSuffix(policy[0], "_test.yaml")+".yaml")
			ralph("test", policy[0])
			ralph("fmt", "-l", policy[0], strings.TrimSuffix(policy[0], "_test.yaml")+".yaml")
		})
	}
}
