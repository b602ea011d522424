package examples_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
)

// expect compares what a decision says ("continue RULE") and looks for texts in
// its reason.
func expect(t testing.TB, d *loop.Decision, verdict string, says ...string) {
	t.Helper()
	if got := d.Verdict.Action.String() + " " + d.Verdict.Rule; got != verdict {
		t.Errorf("the verdict is %q, want %q; notices: %q", got, verdict, d.Notices)
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
