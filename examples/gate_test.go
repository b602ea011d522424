package examples_test

import (
	"context"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// A run is done when the gate is passed, and not before: the agent keeps its promise in the second iteration.
func TestGateOfARun(t *testing.T) {
	const promise = ".claude/completion-state/promises/p.json"
	p := newProject(t, "system3", nil, files{promise: `{"id": "p-1", "status": "in_progress", "ownership": {"owned_by": "system3-1"}}`})
	p.env["CLAUDE_SESSION_ID"] = "system3-1"
	program, findings := rules.Load(t.Context(), examples.FS, "system3/system3.yaml", loop.Config())
	if program == nil {
		t.Fatal(findings)
	}
	work := func(_ context.Context, i run.Invocation) (run.Result, error) {
		if i.Prompt != "Build it." {
			p.write(files{promise: `{"id": "p-1", "status": "verified", "ownership": {"owned_by": "system3-1"}}`})
		}
		return run.Result{Outcome: run.OK}, nil
	}
	r, err := run.New(program, run.Func("agent", work), run.WithDir(p.dir), run.WithPrompt("Build it."),
		run.WithLoop(loop.WithSource(judge.Source()), loop.WithEnv(func(name string) string { return p.env[name] })))
	if err != nil {
		t.Fatal(err)
	}
	var last run.Event
	for last = range r.Run(t.Context()) {
	}
	if last.Ended != run.Success || last.Rule != "passed" || last.Totals.Iterations != 2 {
		t.Errorf("it ends as %s by the rule %q after %d iterations: %s", last.Ended, last.Rule, last.Totals.Iterations, last.Why)
	}
}
