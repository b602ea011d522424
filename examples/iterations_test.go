package examples_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// A limit of N iterations means the same number of turns in a session, whose first turn is the user's, and in a run, which
// starts each of them. The originals count differently: stravinsky counts before it compares, ralph-wiggum afterwards.
func TestIterations(t *testing.T) {
	work := func(context.Context, run.Invocation) (run.Result, error) { return run.Result{Outcome: run.OK}, nil }
	for _, c := range []struct {
		policy, fields string
		turns          int
	}{
		{"stravinsky", "iteration_count: 1\nmax_iterations: 0", 1},
		{"stravinsky", "iteration_count: 1\nmax_iterations: 1", 1},
		{"stravinsky", "iteration_count: 1\nmax_iterations: 2", 1},
		{"stravinsky", "iteration_count: 1\nmax_iterations: 3", 2},
		{"stravinsky", "iteration_count: 1", 9}, // the default of the limit is 10
		{"stravinsky", "iteration_count: 7\nmax_iterations: 10", 3},
		{"ralph-wiggum", "iteration: 1\nmax_iterations: 1", 1},
		{"ralph-wiggum", "iteration: 1\nmax_iterations: 2", 2},
		{"ralph-wiggum", "iteration: 1\nmax_iterations: 20", 20},
		{"ralph-wiggum", "iteration: 19\nmax_iterations: 20", 2},
		{"ralph-wiggum", "iteration: 1999", 2}, // the hard cap is 2000
	} {
		file := map[string]string{"stravinsky": loopFile, "ralph-wiggum": wiggumFile}[c.policy]
		content := files{file: "---\n" + c.fields + "\n---\nBuild it.\n"}
		t.Run(c.policy+"/"+c.fields, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, c.policy, nil, content)
			turns := 1
			for p.stop(event{"prompt_id": "p1", "stop_hook_active": turns > 1}).Verdict.Action == rules.Continue {
				turns++
			}
			ended := p.read()
			if turns != c.turns || ended[".ralph/archive/"+file] == "" {
				t.Errorf("%d turns in a session, and then %q", turns, ended)
			}

			program, findings := rules.Load(t.Context(), examples.FS, c.policy+"/"+c.policy+".yaml", loop.Config())
			if program == nil {
				t.Fatal(findings)
			}
			p = newProject(t, c.policy, nil, content)
			r, err := run.New(program, run.Func("agent", work), run.WithDir(p.dir))
			if err != nil {
				t.Fatal(err)
			}
			var last run.Event
			for last = range r.Run(t.Context()) {
			}
			// What the policy counted on the way is the same too.
			diff(t, fmt.Sprint(c.turns, " by the rule limit"), fmt.Sprint(last.Totals.Iterations, " by the rule ", last.Rule))
			diff(t, ended, p.read())
		})
	}
}
