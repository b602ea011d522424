package rules_test

import (
	"context"
	"fmt"

	"github.com/ralph-sdk/ralph/rules"
)

// The condition of a task list, over a value of the program.
func Example() {
	p, err := rules.Parse("policy.yaml", []byte(`ralph: 1
facts:
  state:
    value: the state of the task list
    inline: true
    schema:
      properties:
        phase: {enum: [plan, execution], default: plan}
        taskIndex: {type: integer, default: 0}
        totalTasks: {type: integer, default: 0}
rules:
  - name: next-task
    when: phase == "execution" && taskIndex < totalTasks && !stop_hook_active
    continue: Continue with task ${taskIndex + 1} of ${totalTasks}.
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, state := range []string{`{"phase": "execution", "taskIndex": 2, "totalTasks": 5}`, `{"phase": "execution", "taskIndex": 5, "totalTasks": 5}`} {
		v, err := p.Eval(context.Background(), rules.Input{Values: map[string]any{"state": []byte(state)}})
		fmt.Println(v.Outcome, v.Reason, err)
	}
	// Output:
	// continued Continue with task 3 of 5. <nil>
	// idle  <nil>
}

// A finding says where a policy is wrong, and what to write.
func ExampleFindings() {
	_, err := rules.Parse("policy.yaml", []byte(`ralph: 1
facts: {state: {json: state.json, schema: {properties: {phase: {type: string}}}}}
rules:
  - {name: planning, when: state.phaze == "plan", stop: the plan is not done}
`))
	for _, f := range err.(rules.Findings) {
		fmt.Println(f)
	}
	// Output:
	// policy.yaml:4:34: there is no field phaze [unknown-field]
	//    4 |   - {name: planning, when: state.phaze == "plan", stop: the plan is not done}
	//      |                                  ^~~~~
	//      = did you mean "phase"?
}
