package embed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

var todo = fstest.MapFS{"todo.yaml": {Data: []byte(`ralph: 1
facts:
  todo: {checklist: TODO.md}
let:
  open: filter(todo, not .done)
progress: len(open)
limits: {repeats: 3}
rules:
  - name: done
    when: len(open) == 0
    stop: every box is ticked
    success: true
  - name: next
    continue: "Do this, then tick its box: ${open[0].text}"
`)}}

// The agent is a Go function. A run calls it with a prompt, again and again, until the policy says
// that the work is done or a limit is reached.
func Example_agent() {
	ctx := context.Background()
	project, err := os.MkdirTemp("", "agent")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(project)
	list := filepath.Join(project, "TODO.md")
	if err := os.WriteFile(list, []byte("- [ ] parser\n- [ ] printer\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	program, diags := rules.Load(ctx, todo, "todo.yaml", loop.Config())
	if program == nil {
		fmt.Println(diags.Err())
		return
	}

	agent := func(_ context.Context, i run.Invocation) (run.Result, error) {
		src, err := os.ReadFile(list)
		if err != nil {
			return run.Result{}, err
		}
		// A real one asks a model, and gives it tools.
		ticked := strings.Replace(string(src), "[ ]", "[x]", 1)
		return run.Result{Text: "Done: " + i.Prompt}, os.WriteFile(list, []byte(ticked), 0o644)
	}
	r, err := run.New(program, run.Func("worker", agent), run.WithDir(project), run.WithLimits(run.Limits{Iterations: 10}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev := range r.Run(ctx) {
		switch ev.Kind {
		case run.IterationEnd:
			fmt.Println("iteration", ev.Iteration, ev.Outcome)
		case run.RunEnd:
			fmt.Println(ev.Ended, "after", ev.Totals.Iterations, "iterations:", ev.Why)
		}
	}
	// Output:
	// iteration 1 ok
	// iteration 2 ok
	// success after 2 iterations: every box is ticked
}
