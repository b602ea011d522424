package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-sdk/ralph/run"
)

// A batch file gets no prompt, wherever the agent is started.
func TestGenericBatch(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.cmd"), []byte("@exit\r\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{`.\agent.cmd`, "./agent.cmd", "./agent", filepath.Join(dir, "agent.cmd")} {
		if c, err := run.Generic().Command(run.Invocation{Args: []string{program}, Prompt: `" & calc`, Dir: dir}); err == nil {
			t.Errorf("%s gets %q", program, c.Args)
		}
	}
}
