package embed_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
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
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Outcome, v.Rule)
	fmt.Println(v.Reason)
	// Output:
	// continued next-task
	// Do task 2 of 3, then add 1 to taskIndex in state.json.
}

// What is wrong with a policy is data: its place, the message, and what to write instead.
func Example_findings() {
	_, err := rules.Parse("slip.yaml", []byte(`ralph: 1
rules:
  - name: again
    when: not stop_hook_activ
    continue: Go on.
`))
	var found rules.Findings
	if errors.As(err, &found) {
		fmt.Println(found[0])
	}
	// Output:
	// slip.yaml:4:15: there is no name stop_hook_activ [unknown-name]
	//    4 |     when: not stop_hook_activ
	//      |               ^~~~~~~~~~~~~~~
	//      = did you mean "stop_hook_active"?
}

// A value that the policy reads and the program forgot is an error, whatever the rules say.
func Example_forgotten() {
	p, err := rules.Parse("policy.yaml", []byte(`ralph: 1
facts: {queue: {value: queue}}
rules:
  - {name: more, when: len(queue) > 0, continue: "${len(queue)} jobs are left."}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = p.Eval(context.Background(), rules.Input{})
	fmt.Println(err)
	// Output:
	// rules: value queue is not given
}
