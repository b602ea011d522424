package examples_test

import (
	"testing"

	"github.com/ralph-sdk/ralph/run"
)

// A run is done when the gate is passed, and not before: the agent keeps its promise in the second iteration.
func TestGateOfARun(t *testing.T) {
	const promise = ".claude/completion-state/promises/p.json"
	p := newProject(t, "system3", nil, files{promise: `{"id": "p-1", "status": "in_progress", "ownership": {"owned_by": "system3-1"}}`})
	p.env["CLAUDE_SESSION_ID"] = "system3-1"
	end := p.run(func(prompt string) string {
		if prompt != "Build it." {
			p.write(files{promise: `{"id": "p-1", "status": "verified", "ownership": {"owned_by": "system3-1"}}`})
		}
		return ""
	}, run.WithPrompt("Build it."))
	if end.Ended != run.Success || end.Rule != "passed" || end.Totals.Iterations != 2 {
		t.Errorf("it ends as %s by the rule %q after %d iterations: %s", end.Ended, end.Rule, end.Totals.Iterations, end.Why)
	}
}
