package loop_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// A loop keeps its memory in the process and touches no disk, unless options say
// otherwise. The zero event is a Stop.
func ExampleLoad() {
	ctx := context.Background()
	policies := fstest.MapFS{"build.yaml": {Data: []byte(`ralph: 1
facts:
  left: {input: {type: integer}}
limits: {continuations: 2}
rules:
  - name: left
    when: left > 0
    continue: ${left} targets are left.
`)}}
	l, diags := loop.Load(ctx, policies, "build.yaml", loop.WithValues(map[string]any{"left": 2}))
	if l == nil {
		fmt.Println(diags.Err())
		return
	}
	for range 3 {
		d, err := l.Run(ctx, host.Event{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Verdict.Action, d.Verdict.Reason)
	}
	// Output:
	// continue 2 targets are left.
	// continue 2 targets are left.
	// stop the limit of 2 continuations per prompt is reached
}

// The source of the example keeps what loops rely on.
func TestTracker(t *testing.T) {
	tickets := &tracker{tickets: map[string]ticket{"T-7": {Title: "Fix the login", State: "open"}}}
	program, diags := rules.LoadBytes(t.Context(), "ticket.yaml",
		[]byte("ralph: 1\nfacts: {job: {ticket: T-7}}\nrules: [{name: tried, when: job.tries > 1, stop: tried}]\n"), loop.Config(loop.WithSource(tickets)))
	if program == nil {
		t.Fatal(diags.Err())
	}
	q := loop.Query{Fact: program.Facts()[0], Args: []string{"T-7"}}
	looptest.Source(t, tickets, q)
	looptest.Writer(t, tickets, tickets, []any{"tries"}, 5, q)
}
