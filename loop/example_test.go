package loop_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
)

// A program decides by its own policy and its own values, in a session that it names.
func ExampleLoad() {
	fsys := fstest.MapFS{"next-task.yaml": {Data: []byte(`
ralph: 1
facts:
  state: {value: the state of the agent}
rules:
  - name: next
    when: state.taskIndex < state.totalTasks
    continue: Continue with task ${state.taskIndex + 1} of ${state.totalTasks}.
  - name: ready
    done: all tasks are done
`)}}
	l, err := loop.Load(fsys, "next-task.yaml", loop.WithStore(loop.Map()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for index := range 3 {
		state := map[string]any{"taskIndex": index, "totalTasks": 2}
		d, err := l.Decide(context.Background(), loop.Event{Session: "s1", Values: map[string]any{"state": state}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Outcome, "-", d.Reason)
	}
	// Output:
	// continued - Continue with task 1 of 2.
	// continued - Continue with task 2 of 2.
	// done - all tasks are done
}
