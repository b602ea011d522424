package embed_test

import (
	"context"
	"embed"
	"fmt"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

//go:embed agent.yaml
var policies embed.FS

// Tickets is the state of the agent below.
type Tickets struct {
	Done, Total int
}

// An agent loop of your own: the model works until the policy lets it stop. A field that the policy misspells is an error of Load.
func Example_agent() {
	ctx := context.Background()
	l, err := loop.Load(policies, "agent.yaml", loop.WithValues(map[string]any{"state": Tickets{}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	state := Tickets{Total: 3}
	model := func(task string) string { // instead of a real one
		state.Done++
		return "I did this: " + task
	}
	task := "Answer the tickets."
	for {
		said := model(task)
		d, err := l.Decide(ctx, loop.Event{Session: "s1", Message: said, Values: map[string]any{"state": state}})
		fmt.Println(d.Outcome, d.Reason)
		if err != nil || !d.Continue() {
			return
		}
		task = d.Reason
	}
	// Output:
	// continued Answer the next ticket, 2 of 3.
	// continued Answer the next ticket, 3 of 3.
	// done all 3 tickets are answered
}

// A field that was renamed in the struct, and not in the policy, is found when the policy is loaded.
func Example_renamed() {
	type Tickets struct{ Answered, Total int }
	_, err := loop.Load(policies, "agent.yaml", loop.WithValues(map[string]any{"state": Tickets{}}))
	fmt.Println(err.(rules.Findings)[0])
	// Output:
	// agent.yaml:4:18: there is no name Done [unknown-name]
	//    4 | progress: {done: Done, total: Total}
	//      |                  ^~~~
	//      = facts are declared below facts:; within any(…) and the like, write .FIELD for a field of the element
}
