package loop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A stop whose session file ends in a failure stops, unless the policy allows to
// continue, and then as often in a row as it allows.
func TestFailedTurns(t *testing.T) {
	failed := []string{human("go"), `{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","message":{"role":"assistant","content":[{"type":"text","text":"Limit reached"}]}}`}
	went := []string{human("go"), `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done so far."}]}}`}
	for _, c := range []struct {
		name, limits string
		turns        [][]string
		want         []string
	}{
		{"by default", "{}", [][]string{went, failed, went}, []string{"go on", "stop limits.failures", "go on"}},
		{"twice", "{failures: 2}", [][]string{failed, failed, failed, went, failed}, []string{"go on", "go on", "stop limits.failures", "go on", "go on"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			l := p.loop("ralph: 1\nlimits: " + c.limits + "\nrules: [{name: on, continue: go on}]\n")
			var got []string
			for _, lines := range c.turns {
				got = append(got, said(p.run(l, p.talk(lines...))))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
