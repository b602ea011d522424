package rules

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The house style has a place for every key that there is.
func TestOrdersAreComplete(t *testing.T) {
	for _, test := range []struct {
		name   string
		order  []string
		tables []keys
	}{
		{"policy", policyOrder(), []keys{policyKeys()}},
		{"rule", ruleOrder(), []keys{ruleKeys(), includeKeys(), finallyKeys()}},
	} {
		var want []string
		for _, table := range test.tables {
			want = append(want, table.names()...)
		}
		slices.Sort(want)
		got := slices.Clone(test.order)
		slices.Sort(got)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
