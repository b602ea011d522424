package embed_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// An agent of your own, started again and again with a fresh context. The step is pure, and the state is a value that you keep, as JSON,
// where you like. The process is killed here while the agent works, and another one goes on: the lost start counts.
func Example_run() {
	files := fstest.MapFS{"policy.yaml": {Data: []byte(`ralph: 1
facts: {left: {value: left}}
rules:
  - {name: done, when: left == 0, done: nothing is left}
  - {name: next, when: left > 0, continue: "Do one of ${left}."}
`)}}
	l, err := loop.Load(files, "policy.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	left := 2
	agent := func(prompt string) { // instead of a real one
		left--
		fmt.Println("agent:", prompt)
	}
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	s, err := run.New(run.Plan{ID: "r1", Name: "policy", Args: []string{"mine"}, Limits: run.Limits{Max: 10}, Started: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	for in := (run.Input{Kind: run.Begin}); s.End == nil; {
		var cmd run.Command
		in.At = now
		s, cmd = s.Step(in) // keep s before the command is carried out
		switch cmd.Kind {
		case run.Decide:
			d, _ := l.Decide(context.Background(), loop.Event{Session: s.Plan.ID, Run: true, Values: map[string]any{"left": left}})
			in = run.Input{Kind: run.Decided, Decision: run.Decision{Outcome: d.Outcome, Rule: d.Rule, Reason: d.Reason, Notice: d.Notice}}
		case run.Iterate:
			if s.Iteration == 2 { // the process is killed, and another one begins with s
				in = run.Input{Kind: run.Resume}
				break
			}
			agent(cmd.Prompt)
			in = run.Input{Kind: run.Iterated, Iteration: run.Iteration{Outcome: run.OK}}
		case run.Rest: // until s.Until
			in = run.Input{Kind: run.Rested}
		}
	}
	fmt.Println(s.End.Outcome, "after", s.Iteration, "starts:", s.End.Reason)
	// Output:
	// agent: Do one of 2.
	// agent: Do one of 1.
	// done after 3 starts: nothing is left
}
