package examples_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
)

// verdict is what a decision says: "continue RULE", "stop RULE", or "idle" where the
// policy is not for the event.
func verdict(d *loop.Decision) string {
	if d.Verdict.Cause.Untried() {
		return "idle"
	}
	return d.Verdict.Action.String() + " " + d.Verdict.Rule
}

// expect compares what a decision says and looks for texts in its reason.
func expect(t testing.TB, d *loop.Decision, want string, says ...string) {
	t.Helper()
	if got := verdict(d); got != want {
		t.Errorf("the verdict is %q, want %q; notices: %q", got, want, d.Notices)
	}
	for _, s := range says {
		if !strings.Contains(d.Verdict.Reason, s) {
			t.Errorf("the reason lacks %q:\n%s", s, d.Verdict.Reason)
		}
	}
}

func diff(t testing.TB, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
