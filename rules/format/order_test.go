package format

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/form"
)

// The house style has a place for every key that there is.
func TestOrdersAreComplete(t *testing.T) {
	for _, test := range []struct {
		name   string
		order  []string
		tables []form.Keys
	}{
		{"policy", policyOrder(), []form.Keys{form.PolicyKeys()}},
		{"rule", ruleOrder(), []form.Keys{form.RuleKeys(), form.IncludeKeys(), form.FinallyKeys()}},
		{"part", partOrder(), []form.Keys{form.PartKeys()}},
	} {
		var want []string
		for _, table := range test.tables {
			want = append(want, table.Names()...)
		}
		slices.Sort(want)
		got := slices.Clone(test.order)
		slices.Sort(got)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
