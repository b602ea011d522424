package loop

import (
	"cmp"
	"errors"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules"
)

// Outcome is how a decision, a loop or a run ended, in one word. [Cause] says why.
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

// Cause is why a decision or a run has its outcome, in one word of a closed set. "" is that a rule of the policy said so.
//
//	failed: a word of [rules.Fault]; of a run also auth, crashes, failed
//	skipped, idle, waiting: a word of [rules.Aside]; asked: stopped, of a run interrupted, denied
//	limit: the limit: failures, continuations, total, repeats, elapsed; of a run also iterations, tokens, cost, rate_limit
//	stopped: gone (the loop's file), no_rule (none holds)
type Cause string

// Outcome returns how the decision ended. The first that holds counts: failed, skipped, idle, asked, waiting, none, limit,
// done, stopped, continued. None is "": an event at which there is nothing to stop, such as a prompt.
func (h Head) Outcome() Outcome {
	o, _ := h.ended()
	return o
}

// Cause returns why the decision has its outcome.
func (h Head) Cause() Cause {
	_, c := h.ended()
	return c
}

// ended is the only place where a decision gets its outcome and its cause.
func (h Head) ended() (Outcome, Cause) {
	aside := Cause(h.Aside)
	switch {
	case h.Fault != "", h.Error != "":
		return Failed, Cause(cmp.Or(h.Fault, rules.FaultInput))
	case h.Command != "":
		return Asked, Cause(rules.Stopped)
	case h.Aside == "" && h.Skipped == "":
	case h.Loop != nil && h.Loop.Gone:
		return Stopped, "gone"
	case h.Aside == rules.Stopped:
		return Asked, aside
	case h.Aside == rules.Paused:
		return Waiting, aside
	case h.Aside == rules.NoLoop, h.Aside.Loop():
		return Idle, aside
	default:
		return Skipped, aside
	}
	switch {
	case !vocab.Decides(h.Event), vocab.Passes(h.Event) && h.Rule == "" && h.Bound == "":
		return "", ""
	case h.Action == rules.Ask:
		return Asked, ""
	case h.Action == rules.Wait:
		return Waiting, ""
	case h.Bound != "":
		return Limited, Cause(strings.TrimPrefix(h.Bound, "limits."))
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

// Outcome returns how the decision ended, see [Head.Outcome].
func (d *Decision) Outcome() Outcome {
	if d.repeats() {
		return d.answer.Outcome
	}
	return d.ended().Outcome()
}

// Cause returns why the decision has its outcome, see [Cause].
func (d *Decision) Cause() Cause {
	if d.repeats() {
		return d.answer.Cause
	}
	return d.ended().Cause()
}

// repeats reports whether the decision is an earlier one.
func (d *Decision) repeats() bool { return d != nil && d.Repeated && d.Err == nil }

// ended returns what of the record determines the outcome.
func (d *Decision) ended() Head {
	if d == nil || d.Verdict == nil {
		return Head{Fault: rules.FaultInput}
	}
	v := d.Verdict
	h := Head{Event: d.Event.Name, Action: v.Action, Rule: v.Rule, Success: v.Success, Bound: v.Bound, Aside: v.Aside, Fault: v.Fault, Wait: v.Wait, Loop: v.Loop}
	if d.broken {
		h.Error = "broken"
	}
	return h
}

// A faultError is an error with its fault.
type faultError struct {
	error
	fault rules.Fault
}

func (e faultError) Unwrap() error { return e.error }

// faultOf returns the fault of an error that keeps a decision from being made, counted or kept. known is that of the
// verdict, "" if there was none.
func faultOf(err error, known rules.Fault) rules.Fault {
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
	return cmp.Or(known, rules.FaultInput)
}

// judge sets the error of a decision that is a stop because of a fault.
func (d *Decision) judge() *Decision {
	switch v := d.Verdict; {
	case d.broken || v.Fault == "":
	case v.Panic != nil:
		d.Err = v.Panic
	default:
		d.Err = faultError{errors.New(v.Reason), v.Fault}
	}
	return d
}
