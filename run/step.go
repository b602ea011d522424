package run

import (
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/rules"
)

// Input is something that happened. Fields that do not belong to its kind are zero.
type Input struct {
	Kind InputKind
	At   time.Time
	Stop bool // a person wants the run to end after this iteration

	Decision  Decision  // Decided
	Iteration Iteration // Iterated
	Limits    Limits    // Resume: fields that are not zero replace those of the run
	Why       string    // NotStarted
}

// InputKind is the kind of an input.
type InputKind string

// The inputs. One that does not fit the phase of a state changes nothing but the time.
const (
	Begin      InputKind = "begin"       // a new run begins
	Resume     InputKind = "resume"      // it goes on, after its end or after its process was killed
	Decided    InputKind = "decided"     // the policy decided
	Iterated   InputKind = "iterated"    // the agent's process ended
	NotStarted InputKind = "not_started" // there was none, and Why is the reason
	Rested     InputKind = "rested"      // the time of a rest is over
	Cancelled  InputKind = "cancelled"   // a person ends the run now, while the agent does not run
)

// Decision is what the policy decided, the part of a loop.Decision that a run needs. Its Outcome is one of package rules, or loop.Off.
type Decision struct {
	Outcome              rules.Outcome
	Rule, Reason, Notice string
	Log                  []string
}

// CommandKind is the kind of a command.
type CommandKind string

// The commands. The zero value is that the run has ended, or that its process is under way.
const (
	Decide  CommandKind = "decide"  // ask the policy; answered by Decided
	Iterate CommandKind = "iterate" // start the agent; answered by Iterated or NotStarted
	Rest    CommandKind = "rest"    // wait until State.Until; answered by Rested
)

// Command is what a driver does next. It keeps the state before it begins.
type Command struct {
	Kind    CommandKind
	Prompt  string        // Iterate: the policy's reason; "" if the agent starts as it was typed
	Timeout time.Duration // Iterate: what is left of the time of the run
	Why     string        // Rest
}

const (
	maxCrashes = 3 // in a row
	maxLosses  = 3

	firstRest = 5 * time.Second // after a failure; each further one is twice as long
	lastRest  = 10 * time.Minute
)

// Step returns the state after an input, and what to do next. It is pure, and safe for concurrent use.
func (s State) Step(in Input) (State, Command) {
	if in.Kind != Begin && in.Kind != Resume {
		s.Spent.Elapsed += max(0, in.At.Sub(s.At))
	}
	s.At, s.Stopping = in.At, s.Stopping || in.Stop
	switch {
	case in.Kind == Begin:
		return s.decide()
	case in.Kind == Resume:
		return s.resume(in.Limits)
	case s.End != nil:
		return s, Command{}
	case in.Kind == Cancelled:
		if s.Phase == Iterating {
			s.Iteration--
		}
		return s.end(End{Outcome: Interrupted, Reason: "it was interrupted"})
	case in.Kind == Decided && s.Phase == Deciding:
		return s.decided(in.Decision)
	case in.Kind == Iterated && s.Phase == Iterating:
		return s.iterated(in.Iteration.fit())
	case in.Kind == NotStarted && s.Phase == Iterating:
		s.Iteration--
		return s.end(End{Outcome: rules.Failed, Reason: in.Why})
	case in.Kind == Rested && s.Phase == Resting:
		if s.Rested = true; s.Stopping {
			return s.end(interrupted)
		}
		return s.decide() // the same decision: its prompt is in the policy's memory
	}
	return s, Command{}
}

// resume goes on from where a run is. What happened in a row is forgotten only after an end: a killed process ends nothing.
func (s State) resume(l Limits) (State, Command) {
	if s.End != nil && s.End.Outcome == rules.Done {
		return s, Command{}
	}
	s.Plan.Limits, s.Stopping = l.or(s.Plan.Limits), false
	if s.End != nil {
		s.Resumed++
		s.Row = Row{}
		if s.End.Decided {
			s.Decision++
		}
		s.End = nil
	}
	switch s.Phase {
	case Iterating:
		return s.iterated(Iteration{Outcome: Lost})
	case Resting:
		return s, Command{Kind: Rest, Why: "it was resumed"}
	}
	return s.decide()
}

func (s State) decide() (State, Command) {
	s.Phase = Deciding
	return s, Command{Kind: Decide}
}

func (s State) end(e End) (State, Command) {
	e.Rule, e.Reason = fit(e.Rule, maxName, head), fit(e.Reason, maxReason, head)
	s.Phase, s.End, s.Stopping = Deciding, &e, false
	return s, Command{}
}

// iterated counts an iteration, and asks the policy about it unless the agent could do nothing.
func (s State) iterated(it Iteration) (State, Command) {
	s.Spent.Tokens += max(0, it.Tokens)
	if it.Cost != nil && *it.Cost > 0 {
		s.Spent.Cost += *it.Cost
	}
	s.Rested = false
	switch it.Outcome {
	case RateLimited:
		s.Row.Limited++
		return s.rest(it.Resets)
	case SignIn, Billing:
		why := map[string]string{SignIn: "the agent cannot sign in", Billing: "the account cannot pay"}[it.Outcome]
		return s.end(End{Outcome: rules.Failed, Reason: why + ": " + it.Problem})
	case Crashed:
		s.Row = Row{Crashes: s.Row.Crashes + 1}
	case Lost:
		s.Row = Row{Losses: s.Row.Losses + 1}
	default:
		s.Row = Row{}
	}
	s.Last = &it
	s.Decision++
	if it.Outcome == Interrupted {
		return s.end(End{Outcome: Interrupted, Reason: "the iteration was interrupted"})
	}
	return s.decide()
}

// decided starts the agent if the policy continues. Before the first iteration it also starts it if no rule decides.
func (s State) decided(d Decision) (State, Command) {
	prompt := d.Reason
	switch {
	case d.Outcome == rules.Continued:
	case d.Outcome == rules.Idle && s.Last == nil:
		prompt = ""
	default:
		return s.end(End{Outcome: d.Outcome, Rule: d.Rule, Reason: d.Reason, Decided: d.Outcome != off})
	}
	if e := s.bound(); e != nil {
		return s.end(*e)
	}
	if s.Row.Crashes+s.Row.Limited > 0 && !s.Rested {
		return s.rest(time.Time{})
	}
	s.Phase, s.Rested, s.Until = Iterating, false, time.Time{}
	s.Iteration++ // counted even if the driver is killed now
	return s, Command{Kind: Iterate, Prompt: prompt, Timeout: max(time.Second, s.left())}
}

// off is loop.Off: a person stopped the policy, so that nothing was decided.
const off rules.Outcome = "off"

// interrupted ends a run of which a person wants no more.
var interrupted = End{Outcome: Interrupted, Reason: "it was interrupted after an iteration"}

// left returns how much of the time of the run is left.
func (s State) left() time.Duration { return s.Plan.Limits.For - s.Spent.Elapsed }

// bound returns the end of a run that its policy would continue, if it has reached one of its own bounds.
func (s State) bound() *End {
	l, losses := s.Plan.Limits, s.Plan.Losses
	if losses == 0 {
		losses = maxLosses
	}
	switch {
	case s.Stopping:
		return &interrupted
	case s.Row.Crashes >= maxCrashes:
		return &End{Outcome: Crashed, Reason: fmt.Sprintf("the agent crashed %d times in a row: %s", s.Row.Crashes, s.Last.Problem)}
	case s.Row.Losses >= losses:
		return &End{Outcome: Lost, Reason: fmt.Sprintf("ralph was killed during %d iterations in a row", s.Row.Losses)}
	case s.Iteration >= l.Max:
		return &End{Outcome: rules.Limit, Rule: "--max", Reason: fmt.Sprintf("%d of %d iterations were started", s.Iteration, l.Max)}
	case s.left() <= 0:
		return &End{Outcome: rules.Limit, Rule: "--for", Reason: fmt.Sprintf("the run has taken %v", l.For)}
	case l.Budget > 0 && s.Spent.Cost >= l.Budget:
		return &End{Outcome: rules.Limit, Rule: "--budget", Reason: fmt.Sprintf("the run has cost %.2f of %.2f US dollars", s.Spent.Cost, l.Budget)}
	case l.Budget > 0 && s.Last != nil && s.Last.Outcome == OK && s.Last.Cost == nil:
		return &End{Outcome: rules.Failed, Reason: "the agent did not report what the iteration cost, so --budget cannot be kept"}
	}
	return nil
}

// rest waits before the agent is started again: until a rate limit resets, if that is known, and longer after each failure in a row.
func (s State) rest(resets time.Time) (State, Command) {
	wait := firstRest << min(10, max(0, s.Row.Crashes+s.Row.Limited-1))
	s.Until = s.At.Add(min(wait, lastRest))
	why := "the agent crashed"
	if s.Row.Limited > 0 {
		why = "the agent's rate limit"
	}
	if resets.After(s.Until) {
		s.Until = resets
	}
	last := s.At.Add(s.left())
	switch e := s.bound(); {
	case e != nil:
		return s.end(*e)
	case resets.After(last):
		return s.end(End{Outcome: rules.Limit, Rule: "--for", Reason: "the rate limit resets at " + resets.UTC().Format(time.RFC3339) + ", when the time of the run is over"})
	case s.Until.After(last):
		s.Until = last
	}
	s.Phase = Resting
	return s, Command{Kind: Rest, Why: why}
}
