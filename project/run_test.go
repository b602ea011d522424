package project

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-sdk/ralph/run"
)

// The switch that pauses all loops of a project pauses its runs.
func TestRunControl(t *testing.T) {
	dir := t.TempDir()
	p, err := Open(Config{Dir: dir, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.control(); got != run.GoOn {
		t.Errorf("at first it is %v", got)
	}
	if err := os.Mkdir(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ralph", "off"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := p.control(); got != run.Pause {
		t.Errorf("with .ralph/off it is %v", got)
	}
}

// A run logs its decisions where the project keeps its own files, whatever the environment says.
func TestRunState(t *testing.T) {
	p, err := Open(Config{Dir: t.TempDir(), State: t.TempDir(), Env: func(name string) string {
		if name == "RALPH_STATE_DIR" {
			return filepath.Join(t.TempDir(), "elsewhere")
		}
		return os.Getenv(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.Run(t.Context(), RunRequest{Prompt: "x", Agent: []string{"go", "version"}, Limits: run.Limits{Iterations: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for range r.Events(t.Context()) {
	}
	if entries, err := p.History(Query{}); err != nil || len(entries) != 1 {
		t.Errorf("the log has %d decisions, %v; want 1", len(entries), err)
	}
}
