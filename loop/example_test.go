package loop_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
)

// A program decides by its own policy and its own values, in a session that it names.
func ExampleLoad() {
	policies := fstest.MapFS{"next.yaml": {Data: []byte(`ralph: 1
facts: {left: {value: left}}
rules:
  - {name: ready, when: left == 0, done: nothing is left}
  - {name: next, when: left > 0, continue: "${left} are left."}
`)}}
	l, err := loop.Load(policies, "next.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, left := range []int{2, 1, 0} {
		d, err := l.Decide(context.Background(), loop.Event{Session: "s1", Values: map[string]any{"left": left}})
		fmt.Println(d.Outcome, d.Reason, err)
	}
	// Output:
	// continued 2 are left. <nil>
	// continued 1 are left. <nil>
	// done nothing is left <nil>
}
