package rules_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/rules"
)

const buildPolicy = `ralph: 1
facts:
  build:
    input:
      properties:
        left: {type: integer, default: 0}
        broken: {type: array, items: {type: string}, default: []}
limits: {continuations: 2}
rules:
  - name: broken
    when: len(build.broken) > 0
    continue: Repair ${join(build.broken, ", ")}.
  - name: left
    when: build.left > 0
    continue: ${build.left} targets are left.
`

// A decision over values that the program has. The caller keeps the memory, and so
// the limits of the policy hold.
func ExampleLoadBytes() {
	ctx := context.Background()
	program, diags := rules.LoadBytes(ctx, "build.yaml", []byte(buildPolicy), rules.Config{})
	if program == nil {
		fmt.Println(diags.Err())
		return
	}
	var memory rules.Memory // of this loop, from wherever you keep it
	for range 3 {
		facts := rules.Values(map[string]any{"build": map[string]any{"left": 2}})
		v := program.Eval(ctx, facts, rules.Options{Memory: memory, Time: time.Now()})
		if v.Changed {
			memory = v.Memory // keep it before you act
		}
		fmt.Println(v.Action, v.Reason)
	}
	// Output:
	// continue 2 targets are left.
	// continue 2 targets are left.
	// stop the limit of 2 continuations per prompt is reached
}
