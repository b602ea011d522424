package loop_test

import (
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Each outcome, and which of two comes first.
func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name string
		head loop.Head
		want loop.Outcome
	}{
		{"a continue", loop.Head{Action: rules.Continue, Rule: "next"}, loop.Continued},
		{"a stop", loop.Head{Rule: "enough"}, loop.Stopped},
		{"no rule", loop.Head{}, loop.Stopped},
		{"a success", loop.Head{Rule: "done", Success: true}, loop.Done},
		{"a limit", loop.Head{Rule: "next", Bound: "limits.continuations"}, loop.Limited},
		{"no loop", loop.Head{Cause: rules.NoLoop}, loop.Idle},
		{"a loop whose file is gone", loop.Head{Cause: rules.NoLoop, Loop: &rules.LoopInfo{Gone: true}}, loop.Stopped},
		{"the loop of another session", loop.Head{Cause: rules.Foreign}, loop.Idle},
		{"in a run", loop.Head{Cause: rules.InRun}, loop.Idle},
		{"a loop that is off", loop.Head{Cause: rules.Off}, loop.Skipped},
		{"all loops are off", loop.Head{Cause: rules.Off, Reason: "RALPH_OFF is set"}, loop.Skipped},
		{"a loop that a person stopped", loop.Head{Cause: rules.Stopped}, loop.Asked},
		{"the command that ended it", loop.Head{Command: "ralph stop"}, loop.Asked},
		{"a question", loop.Head{Action: rules.Ask, Rule: "which"}, loop.Asked},
		{"a question that could not be kept", loop.Head{Action: rules.Ask, Cause: rules.FaultMemory}, loop.Failed},
		{"a wait", loop.Head{Action: rules.Wait, Rule: "ci"}, loop.Waiting},
		{"a wait that could not be kept", loop.Head{Action: rules.Wait, Cause: rules.FaultMemory}, loop.Failed},
		{"a prompt", loop.Head{Event: host.UserPromptSubmit, Rule: "notes"}, ""},
		{"a fault at a prompt", loop.Head{Event: host.UserPromptSubmit, Cause: rules.FaultFact}, loop.Failed},
		{"a fault", loop.Head{Rule: "limit", Cause: rules.FaultFact}, loop.Failed},
		{"a store that is gone", loop.Head{Success: true, Cause: rules.FaultMemory}, loop.Failed},
	} {
		if got := tt.head.Outcome(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
