package loop

import "github.com/ralph-sdk/ralph/rules"

// Outcome is how a decision, a loop or a run ended, in one word.
type Outcome string

// The outcomes. docs/run.md has the exit status of each.
const (
	Continued Outcome = "continued" // the agent continues
	Done      Outcome = "done"      // the rule that let the agent stop has success
	Stopped   Outcome = "stopped"   // another rule let it stop, or none continued it
	Limited   Outcome = "limit"     // a limit turned a continue into a stop, or ended a run
	Asked     Outcome = "asked"     // a person ended it
	Idle      Outcome = "idle"      // there is no loop, or it is not this session's
	Skipped   Outcome = "skipped"   // loops are off, or the policy is not for the event
	Failed    Outcome = "failed"    // something kept it from being decided, counted or kept, or an agent from working
	Lost      Outcome = "lost"      // a run that was killed
)

// Outcome returns how the decision ended. The first that holds counts: failed, asked, skipped, idle, limit, continued, done,
// stopped.
func (h Head) Outcome() Outcome {
	switch {
	case h.Fault != "", h.Error != "":
		return Failed
	case h.Command != "", h.Aside == rules.Stopped:
		return Asked
	case h.Skipped != "" && (h.Aside == "" || h.Aside == rules.Off):
		return Skipped
	case h.Skipped != "":
		return Idle
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
	return d.head().Outcome()
}
