package loop

import (
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules"
)

// Outcome is how a decision, a loop or a run ended, in one word.
type Outcome string

// The outcomes. docs/run.md has the exit status of each.
const (
	Continued Outcome = "continued" // the agent continues
	Waiting   Outcome = "waiting"   // a run waits: for a rate limit, after a crash, or while it is paused
	Done      Outcome = "done"      // the rule that let the agent stop has success
	Stopped   Outcome = "stopped"   // another rule let it stop, none continued it, or the loop's file is gone
	Limited   Outcome = "limit"     // a limit turned a continue into a stop, or ended a run
	Asked     Outcome = "asked"     // it is up to a person: a rule asks, or a person ended it
	Idle      Outcome = "idle"      // there is no loop, or it is not this session's
	Skipped   Outcome = "skipped"   // loops are off, or the policy is not for the event
	Failed    Outcome = "failed"    // something kept it from being decided, counted or kept, or an agent from working
	Lost      Outcome = "lost"      // a run that was killed
)

// Outcome returns how the decision ended. The first that holds counts: failed, asked, skipped, idle, none, limit, continued,
// done, stopped. None is "": an event at which there is nothing to stop, such as a prompt.
func (h Head) Outcome() Outcome {
	switch {
	case h.Fault != "", h.Error != "":
		return Failed
	case h.Command != "", h.Aside == rules.Stopped:
		return Asked
	case h.Skipped != "" && (h.Aside == "" || h.Aside == rules.Off):
		return Skipped
	case h.Skipped != "" && (h.Loop == nil || !h.Loop.Gone):
		return Idle
	case !vocab.Decides(h.Event):
		return ""
	case h.Action == rules.Ask:
		return Asked
	case h.Bound != "":
		return Limited
	case h.Action == rules.Continue:
		return Continued
	case h.Success:
		return Done
	}
	return Stopped
}

// Outcome returns how the decision ended, see [Head.Outcome].
func (d *Decision) Outcome() Outcome {
	if d == nil || d.Verdict == nil {
		return Failed
	}
	if d.Repeated && d.Err == nil {
		return d.answer.Outcome
	}
	return d.head().Outcome()
}
