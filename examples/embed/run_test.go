package embed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// An agent of your own, started again and again with a fresh context. The step is pure, and the state is JSON that you keep where you
// like. The process that drives it here is killed while the agent works, and another one goes on: the lost start counts.
func Example_run() {
	ctx := context.Background()
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
	// drive does what the step says until the run ends, or until the process is killed in an iteration. It returns what was kept.
	drive := func(kept []byte, in run.Input, killed int) []byte {
		for {
			var s run.State
			if err := json.Unmarshal(kept, &s); err != nil {
				fmt.Println(err)
				return nil
			}
			in.At = now
			s, cmd := s.Step(in)
			if kept, err = json.Marshal(s); err != nil {
				fmt.Println(err)
				return nil
			}
			switch {
			case s.End != nil:
				fmt.Println(s.End.Outcome, "after", s.Iteration, "starts:", s.End.Reason)
				return kept
			case cmd.Kind == run.Decide:
				d, _ := l.Decide(ctx, loop.Event{Session: s.Plan.ID, Run: true, Values: map[string]any{"left": left}})
				in = run.Input{Kind: run.Decided, Decision: run.Decision{Outcome: d.Outcome, Rule: d.Rule, Reason: d.Reason, Notice: d.Notice}}
			case cmd.Kind == run.Iterate && s.Iteration == killed:
				return kept
			case cmd.Kind == run.Iterate:
				agent(cmd.Prompt)
				in = run.Input{Kind: run.Iterated, Iteration: run.Iteration{Outcome: run.OK}}
			case cmd.Kind == run.Rest: // until s.Until
				in = run.Input{Kind: run.Rested}
			}
		}
	}
	s, err := run.New(run.Plan{ID: "r1", Name: "policy", Args: []string{"mine"}, Limits: run.Limits{Max: 10}, Started: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	kept, _ := json.Marshal(s)
	kept = drive(kept, run.Input{Kind: run.Begin}, 2)
	drive(kept, run.Input{Kind: run.Resume}, 0)
	// Output:
	// agent: Do one of 2.
	// agent: Do one of 1.
	// done after 3 starts: nothing is left
}
