package loop_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// Without options a loop touches no disk: it knows what you give it and keeps its
// memory in the process. The zero event is a Stop.
func ExampleNew() {
	ctx := context.Background()
	program, diags := rules.LoadBytes(ctx, "build.yaml", []byte(`ralph: 1
facts:
  build: {json: build.json, schema: {properties: {left: {type: integer}}}}
limits: {continuations: 2}
rules:
  - name: left
    when: build.left > 0
    continue: ${build.left} targets are left.
`), loop.Config())
	if program == nil {
		fmt.Println(diags.Err())
		return
	}
	l, err := loop.New(program, loop.WithValues(map[string]any{"build": map[string]any{"left": 2}}))
	if err != nil {
		fmt.Println(err)
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
	// stop the limit of 2 continuations in a streak is reached
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
