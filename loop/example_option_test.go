package loop_test

import (
	"context"
	"fmt"
	"slices"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// The options of two libraries go together: each adds its own, and neither allows what the other forbids.
func ExampleOption() {
	deploys := []loop.Option{
		loop.WithEvents("Deploy"),
		loop.WithAllow(rules.Capabilities{Names: []string{"session_id", "env.HOME"}}),
		loop.WithDeadline(10 * time.Second),
	}
	tenants := []loop.Option{
		loop.WithEvents("Merge"),
		loop.WithAllow(rules.Capabilities{Names: []string{"session_id"}}),
		loop.WithDeadline(5 * time.Second),
	}
	all := slices.Concat(deploys, tenants)
	cfg := loop.Config(all...)
	fmt.Println(cfg.Events, cfg.Deadline)

	policy := fstest.MapFS{"policy.yaml": {Data: []byte("ralph: 1\nrules: [{name: go, continue: 'Go to ${env.HOME}'}]\n")}}
	_, diags := loop.Load(context.Background(), policy, "policy.yaml", all...)
	fmt.Println(diags.Err())

	_, diags = loop.Load(context.Background(), policy, "policy.yaml", append(all, loop.WithEvents("Deploy"))...)
	fmt.Println(diags[0].Message)
	// Output:
	// [Deploy Merge] 5s
	// policy.yaml:2:39: the policy may not use the name "env.HOME"
	// loop.WithEvents has "Deploy" twice: give it once, or give one of the two another name
}
