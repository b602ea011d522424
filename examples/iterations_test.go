package examples_test

import (
	"fmt"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

// A limit of N iterations means the same number of turns in a session, whose first turn is the user's, and in a run, which
// starts each of them. The originals count differently: stravinsky counts before it compares, ralph-wiggum afterwards.
func TestIterations(t *testing.T) {
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

			p = newProject(t, c.policy, nil, content)
			end := p.run(func(string) string { return "" })
			// What the policy counted meanwhile is the same too.
			diff(t, fmt.Sprint(c.turns, " by the rule limit"), fmt.Sprint(end.Totals.Iterations, " by the rule ", end.Rule))
			diff(t, ended, p.read())
		})
	}
}
