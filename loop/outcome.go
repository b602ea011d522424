package loop

import (
	"errors"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules"
)

// Outcome is how a decision, a loop or a run ended, in one word. [Head.Ended] also says why.
type Outcome string

// The outcomes. docs/run.md has the exit status of each, docs/embedding.md a table of situations.
const (
	Continued Outcome = "continued" // the agent continues
	Waiting   Outcome = "waiting"   // a rule waits, or a loop is paused; or a run waits: for what a rule waits for, for a rate limit, after a crash, or while it is paused
	Done      Outcome = "done"      // the rule that let the agent stop has success
	Stopped   Outcome = "stopped"   // another rule let it stop, none continued it, or the loop's file is gone
	Limited   Outcome = "limit"     // a limit turned a continue into a stop, or ended a run
	Asked     Outcome = "asked"     // it is up to a person: a rule asks, or a person ended it
	Idle      Outcome = "idle"      // there is no loop, or it is not this session's
	Skipped   Outcome = "skipped"   // loops are off, or the policy is not for the event
	Failed    Outcome = "failed"    // something kept it from being decided, counted or kept, or an agent from working
	Lost      Outcome = "lost"      // a run that was killed
)

// Outcome returns how the decision ended, see [Head.Ended].
func (h Head) Outcome() Outcome {
	o, _ := h.Ended()
	return o
}

// Ended returns how the decision ended, and why, in a word of a closed set. The first outcome that holds counts: failed,
// skipped, idle, asked, waiting, none, limit, done, stopped, continued. None is "": an event at which there is nothing to
// stop, such as a prompt. The cause is "" if a rule of the policy said so, otherwise one of these:
//
//	failed, skipped, idle, waiting: the Cause; asked: stopped, of a run interrupted, denied
//	failed, of a run: also auth, crashes, failed
//	limit: the limit: failures, continuations, total, repeats, elapsed; of a run also iterations, tokens, cost, rate_limit
//	stopped: gone (the loop's file), no_rule (none holds)
func (h Head) Ended() (Outcome, rules.Cause) {
	switch c := h.Cause; {
	case c.Failed():
		return Failed, c
	case h.Command != "":
		return Asked, rules.Stopped
	case !c.Untried():
	case h.Loop != nil && h.Loop.Gone:
		return Stopped, "gone"
	case c == rules.Stopped:
		return Asked, c
	case c == rules.Paused:
		return Waiting, c
	case c == rules.NoLoop, c.Loop():
		return Idle, c
	default:
		return Skipped, c
	}
	switch {
	case !vocab.Decides(h.Event), vocab.Passes(h.Event) && h.Rule == "" && h.Bound == "":
		return "", ""
	case h.Action == rules.Ask:
		return Asked, ""
	case h.Action == rules.Wait:
		return Waiting, ""
	case h.Bound != "":
		return Limited, rules.Cause(strings.TrimPrefix(h.Bound, "limits."))
	case h.Success:
		return Done, ""
	case h.Action == rules.Continue:
		return Continued, ""
	case h.Loop != nil && h.Loop.Gone:
		return Stopped, "gone"
	case h.Rule == "":
		return Stopped, "no_rule"
	}
	return Stopped, ""
}

// Outcome returns how the decision ended, see [Head.Ended].
func (d *Decision) Outcome() Outcome {
	o, _ := d.ended()
	return o
}

// Cause returns why the decision has its outcome, see [Head.Ended].
func (d *Decision) Cause() rules.Cause {
	_, c := d.ended()
	return c
}

// repeats reports whether the decision is an earlier one.
func (d *Decision) repeats() bool { return d != nil && d.Repeated && d.Err == nil }

// ended returns how the decision ended, and why.
func (d *Decision) ended() (Outcome, rules.Cause) {
	switch {
	case d.repeats():
		return d.answer.Outcome, d.answer.Cause
	case d == nil || d.Verdict == nil:
		return Failed, rules.FaultInput
	}
	v := d.Verdict
	return Head{Event: d.Event.Name, Action: v.Action, Rule: v.Rule, Success: v.Success, Bound: v.Bound, Cause: v.Cause, Loop: v.Loop}.Ended()
}

// A faultError is an error with its fault.
type faultError struct {
	error
	fault rules.Cause
}

func (e faultError) Unwrap() error { return e.error }

// faultOf returns the fault of an error that keeps a decision from being made, counted or kept. known is that of the
// verdict, "" if there was none.
func faultOf(err error, known rules.Cause) rules.Cause {
	var own faultError
	switch {
	case errors.As(err, new(memoryError)):
		return rules.FaultMemory
	case errors.As(err, new(*rules.PanicError)):
		return rules.FaultPanic
	case errors.As(err, &own):
		return own.fault
	case errors.As(err, new(interruptedError)):
		return rules.FaultContext
	}
	if known.Failed() {
		return known
	}
	return rules.FaultInput
}

// judge sets the error of a decision that is a stop because of a fault.
func (d *Decision) judge() *Decision {
	switch v := d.Verdict; {
	case d.broken || !v.Cause.Failed():
	case v.Panic != nil:
		d.Err = v.Panic
	default:
		d.Err = faultError{errors.New(v.Reason), v.Cause}
	}
	return d
}
