package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-sdk/ralph/host"
)

func TestMain(m *testing.M) {
	testscript.Main(clean{m}, map[string]func(){"ralph": main, "hook": hook})
}

// clean are tests that inherit no variable of a host or of ralph: the person who types go test may be an agent that ralph started.
type clean struct{ *testing.M }

func (c clean) Run() int {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name == "RALPH_OFF" || name == "XDG_STATE_HOME" || strings.HasPrefix(name, "CLAUDE_") || host.InSession(func(n string) string { return map[string]string{name: "1"}[n] }) != "" {
			os.Unsetenv(name)
		}
	}
	return c.M.Run()
}

// event is what a host sends that names nothing but its session.
const event = `{"session_id": "s", "hook_event_name": "Stop"}`

// hook is ralph eval as a host calls it.
func hook() {
	r, w, err := os.Pipe()
	if err == nil {
		_, err = w.WriteString(event)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	os.Stdin, os.Args = r, append([]string{"ralph", "eval"}, os.Args[1:]...)
	main()
}

// TestScripts runs what a person types: testdata/script has a script for each command or subject. A script begins in the project. Beside it
// are its home, ralph's own directory, and stop, an event as a host sends it; hook calls ralph eval with it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: false,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"event": eventCommand, "write": writeCommand},
		Condition: func(name string) (bool, error) { // mount: this machine lets a script mount disks of its own
			if name != "mount" {
				return false, fmt.Errorf("there is no condition %s", name)
			}
			return exec.Command("unshare", "-rm", "sh", "-c", "mkdir /tmp/$$; mount -t tmpfs none /tmp/$$ && umount /tmp/$$; s=$?; rmdir /tmp/$$; exit $s").Run() == nil, nil
		},
		Setup: func(env *testscript.Env) error {
			for _, dir := range []string{"project", "home"} {
				if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o755); err != nil {
					return err
				}
			}
			env.Cd = filepath.Join(env.WorkDir, "project")
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("RALPH_STATE_DIR", filepath.Join(env.WorkDir, "state"))
			return os.WriteFile(filepath.Join(env.WorkDir, "stop"), []byte(event), 0o644)
		},
	})
}
