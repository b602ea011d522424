package embed_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// A new version of a policy replaces the old one while 1,000 sessions are decided. What has begun
// finishes on the old one; sessions keep their memory, so the limit of two continuations holds.
func Example_reload() {
	ctx := context.Background()
	version := func(n int) []byte {
		return fmt.Appendf(nil, "ralph: 1\nlimits: {continuations: 2}\nrules: [{name: v%d, continue: Follow version %d.}]\n", n, n)
	}
	l, diags := loop.Load(ctx, fstest.MapFS{"policy.yaml": {Data: version(1)}}, "policy.yaml")
	if l == nil {
		fmt.Println(diags.Err())
		return
	}

	var sessions sync.WaitGroup
	var continued atomic.Int64
	for s := range 1000 {
		sessions.Go(func() {
			for range 3 {
				d, err := l.Run(ctx, host.Event{SessionID: fmt.Sprint("s", s)})
				if err != nil {
					fmt.Println(err)
				}
				if d.Verdict.Action == rules.Continue {
					continued.Add(1)
				}
			}
		})
	}
	for n := 2; n <= 5; n++ {
		changed := fstest.MapFS{"policy.yaml": {Data: version(n)}}
		if diags := l.Reload(ctx, changed, "policy.yaml"); diags.Err() != nil {
			fmt.Println(diags.Err())
		}
	}
	sessions.Wait()

	d, err := l.Run(ctx, host.Event{SessionID: "new"})
	fmt.Println(continued.Load(), "continuations, then", d.Verdict.Rule, err)
	// Output: 2000 continuations, then v5 <nil>
}
