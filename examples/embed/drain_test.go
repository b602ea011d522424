package embed_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// A delivery that comes twice counts once, and an effect that failed is made later, with the same ID.
func Example_drain() {
	ctx := context.Background()
	now, down := time.Now(), true
	page := func(_ context.Context, c loop.Call) error {
		if down {
			return errors.New("the pager is down")
		}
		fmt.Println("page of event", c.EventID+":", c.Effect.Value, "at attempt", c.Attempt)
		return nil
	}
	policy := fstest.MapFS{"policy.yaml": {Data: []byte("ralph: 1\nrules: [{name: go, continue: 'Round ${loop.continuations}.', then: [{page: no answer}]}]\n")}}
	l, diags := loop.Load(ctx, policy, "policy.yaml",
		loop.WithEffect(rules.EffectDecl{Name: "page", Doc: "Pages a person."}, page), loop.WithClock(func() time.Time { return now }))
	if l == nil {
		fmt.Println(diags.Err())
		return
	}
	for range 2 {
		d, err := l.Run(ctx, host.Event{ID: "evt-1", SessionID: "s"})
		fmt.Println(d.Verdict.Reason, d.Repeated, len(d.Failures), err)
	}

	down, now = false, now.Add(time.Minute)
	left, err := l.Drain(ctx) // err names each effect that was given up
	fmt.Println(left, err)
	// Output:
	// Round 0. false 1 <nil>
	// Round 0. true 0 <nil>
	// page of event evt-1: no answer at attempt 2
	// 0 <nil>
}
