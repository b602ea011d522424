package embed_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ralph-sdk/ralph/rules"
)

// A policy in a string and facts in a map: the smallest program.
func Example_decide() {
	program, diags := rules.LoadBytes(context.Background(), "ci.yaml", []byte(`ralph: 1
facts: {failing: {input: {type: integer}}}
rules:
  - name: repair
    when: failing > 0
    continue: Repair the ${failing} tests that fail.
`), rules.Config{})
	if program == nil {
		log.Fatal(diags.Err())
	}
	v := program.Eval(context.Background(), rules.Values(map[string]any{"failing": 2}), rules.Options{})
	fmt.Println(v.Action, "-", v.Reason)
	// Output: continue - Repair the 2 tests that fail.
}
