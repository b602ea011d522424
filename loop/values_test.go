package loop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

// Values of an event hold only for that event, and replace those of the loop.
func TestEventValues(t *testing.T) {
	l := load(t, `ralph: 1
facts: {left: {input: {type: integer}}, phase: {input: {type: string}}}
rules: [{name: go-on, continue: "${phase}: ${left}"}]
`, loop.WithValues(map[string]any{"phase": "build"}))
	for _, tt := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{"left": 2}, "build: 2"},
		{map[string]any{"left": 1, "phase": "test"}, "test: 1"},
		{nil, "build: (?)"},
	} {
		d, err := l.Run(t.Context(), host.Event{Values: tt.values})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, d.Verdict.Reason); diff != "" {
			t.Errorf("%v (-want +got)\n%s", tt.values, diff)
		}
	}
}
