package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ralph": main})
}

// hostVariables are those of hosts and of ralph, which no test inherits.
var hostVariables = []string{"CLAUDECODE", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR", "RALPH_OFF", "XDG_STATE_HOME"}

// TestScripts runs what a person types: testdata/script has a script for each command or subject. A script begins in the project. Beside it
// are its home, ralph's own directory, and stop, an event as a host sends it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: false,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for _, dir := range []string{"project", "home"} {
				if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o755); err != nil {
					return err
				}
			}
			env.Cd = filepath.Join(env.WorkDir, "project")
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("RALPH_STATE_DIR", filepath.Join(env.WorkDir, "state"))
			for _, name := range hostVariables {
				env.Setenv(name, "")
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "stop"), []byte(`{"session_id": "s", "hook_event_name": "Stop"}`), 0o644)
		},
	})
}
