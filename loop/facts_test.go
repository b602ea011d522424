package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// standIn answers for one name and leaves the rest to the world.
type standIn struct{ rules.Facts }

func (s standIn) Name(ctx context.Context, name string) any {
	if name == "permission_mode" {
		return "plan"
	}
	return s.Facts.Name(ctx, name)
}

// What stands between the rules and the world is asked instead of it.
func TestWithFacts(t *testing.T) {
	asked := 0
	l := alone(t, "ralph: 1\nrules: [{name: on, continue: '${permission_mode} in ${session_id}'}]",
		loop.WithFacts(func(_ host.Event, world rules.Facts) rules.Facts { asked++; return standIn{world} }))
	d := l.Decide(t.Context(), host.Event{SessionID: "s", PermissionMode: "default"})
	if said(d) != "plan in s" || asked != 1 {
		t.Errorf("it says %q after %d askings", said(d), asked)
	}
}

// The home directory is that of the loop's environment, for facts and for what rules ask.
func TestHomeOfTheEnvironment(t *testing.T) {
	p := newProject(t, nil)
	home := t.TempDir()
	p.env["HOME"] = home
	if err := os.WriteFile(filepath.Join(home, "note.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.run(p.loop("ralph: 1\nfacts: {note: {text: ~/note.txt}}\nrules: [{name: go, when: exists(\"~/note.txt\"), continue: '${note}'}]"), p.stop())
	if said(d) != "mine" {
		t.Errorf("it says %q", said(d))
	}
}
