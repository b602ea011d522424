package project

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-sdk/ralph/run"
)

// The switch that pauses all loops of a project pauses its runs.
func TestRunControl(t *testing.T) {
	dir, own := t.TempDir(), t.TempDir()
	p, err := Open(Config{Dir: dir, State: own})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	control := func() run.Control { return p.control("p", "id") }
	if got := control(); got != run.GoOn {
		t.Errorf("at first it is %v", got)
	}
	if err := os.Mkdir(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ralph", "off"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := control(); got != run.Pause {
		t.Errorf("with .ralph/off it is %v", got)
	}
	if err := p.own.EndRun("id", true); err != nil {
		t.Fatal(err)
	}
	if got := control(); got != run.Leave {
		t.Errorf("once it is to end it is %v", got)
	}
}
