package embed_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"

	"github.com/ralph-sdk/ralph/rules"
)

//go:embed tasks.yaml
var policy []byte

// The smallest program: one policy, one decision, nothing kept.
func Example_rules() {
	p, err := rules.Options{Files: os.DirFS(".")}.Parse("tasks.yaml", policy)
	if err != nil {
		fmt.Println(err) // what is wrong, where, and what to write
		return
	}
	v, err := p.Eval(context.Background(), rules.Input{Values: map[string]any{
		"state": json.RawMessage(`{"phase": "execution", "taskIndex": 1, "totalTasks": 3}`),
	}})
	fmt.Println(v.Outcome, v.Reason, err)
	// Output: continued Do task 2 of 3, then add 1 to taskIndex in state.json. <nil>
}
