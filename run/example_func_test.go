package run_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// The agent of this example is a loop in Go: it asks a model, does what the model says, and asks again. The policy sees
// only what the iteration came to.
func ExampleFunc() {
	ctx := context.Background()
	project, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(project)
	program, diags := rules.LoadBytes(ctx, "steps.yaml", []byte(`ralph: 1
rules:
  - name: done
    when: said("ALL DONE")
    stop: the agent is done
    success: true
  - name: more
    continue: Do step ${run.iteration + 1}.
`), rules.Config{})
	if program == nil {
		fmt.Println(diags.Err())
		return
	}
	model := func(messages []string) string { // in place of a call of a service
		switch {
		case len(messages) < 3:
			return "tool: look"
		case strings.Contains(messages[0], "step 2"):
			return "ALL DONE"
		}
		return "one more step"
	}
	agent := run.Func("mine", func(ctx context.Context, i run.Invocation) (run.Result, error) {
		messages, used := []string{i.Prompt}, 0
		for ctx.Err() == nil {
			answer := model(messages)
			if used += 100; !strings.HasPrefix(answer, "tool: ") {
				return run.Result{Text: answer, Tokens: used}, nil
			}
			messages = append(messages, answer, "result of "+answer)
		}
		return run.Result{Tokens: used}, ctx.Err()
	})

	r, err := run.New(program, agent, run.WithDir(project), run.WithLimits(run.Limits{Iterations: 10, Tokens: 5000}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev := range r.Run(ctx) {
		switch ev.Kind {
		case run.IterationEnd:
			fmt.Println("iteration", ev.Iteration, ev.Outcome, ev.Totals.Tokens)
		case run.RunEnd:
			fmt.Println(ev.Ended, "after", ev.Totals.Iterations, "iterations:", ev.Why)
		}
	}
	// Output:
	// iteration 1 ok 200
	// iteration 2 ok 400
	// success after 2 iterations: the agent is done
}
