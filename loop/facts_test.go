package loop_test

import (
	"context"
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
