package rules

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm"
)

// Options say how to evaluate. The zero Options decide a Stop, with a short trace.
type Options struct {
	Event  string // "" means Stop; on UserPromptSubmit rules only note
	Traced bool   // fill the trace with operands, reads and facts
	Clear  bool   // show private values in the trace too: prompts, transcripts, environment
}

// evaluation is the state of one Eval. It is used by one goroutine and reused.
type evaluation struct {
	program *Program
	ctx     context.Context
	facts   Facts
	opts    Options
	vm      vm.VM
	slots   []slot         // by symbol
	gotten  []gathered     // by fact
	names   map[string]any // values by key, as expr's machine finds them
	row     Row
	hasRow  bool
	ticks   int // work of loops in expressions
	verdict *Verdict
	why     string   // of the latest unknown or broken operand
	step    *Step    // that operands are traced into, nil if not
	parts   []*Rule  // rules that have something to tell with the verdict
	causes  []string // of broken rules, each is told once
	buf     []byte   // for texts
	telling bool     // a text is rendered: what is read now decides nothing
	quoted  bool     // a text or effect shows what traces do not

	tick func(int) bool // counts them, made once
}

// slot is what an evaluation knows of one symbol.
type slot struct {
	seen  bool
	busy  bool
	state truth
	why   string
	value any
}

// Eval tries the rules in order and tells what the first one that holds says. It
// never fails: what cannot be worked out leans to stop and is told. f is asked
// only for what a reached operand names. ctx is handed on to f, and ends loops in
// expressions; it does not end the evaluation.
//
// The verdict is the caller's own. Eval may be called by many goroutines at once,
// each with its own f.
func (p *Program) Eval(ctx context.Context, f Facts) *Verdict {
	return p.EvalWith(ctx, f, Options{})
}

// Explain is Eval with a full trace: every operand, what it read, and the facts.
func (p *Program) Explain(ctx context.Context, f Facts) *Verdict {
	return p.EvalWith(ctx, f, Options{Traced: true})
}

// EvalWith is Eval with options.
func (p *Program) EvalWith(ctx context.Context, f Facts, o Options) *Verdict {
	ev, ok := p.pool.Get().(*evaluation)
	if !ok {
		ev = p.newEvaluation()
	}
	defer p.release(ev)
	n := p.table.size()
	if cap(ev.slots) < n {
		ev.slots = make([]slot, n, n+8)
	}
	ev.slots = ev.slots[:n]
	ev.program, ev.ctx, ev.facts, ev.opts = p, ctx, f, o
	ev.verdict = &Verdict{Trace: Trace{Steps: make([]Step, 0, len(p.Rules))}}
	ev.decide()
	return ev.verdict
}

// newEvaluation makes an evaluation for the pool of p.
func (p *Program) newEvaluation() *evaluation {
	ev := &evaluation{names: map[string]any{}, gotten: make([]gathered, len(p.facts))}
	ev.tick = ev.count
	return ev
}

func (p *Program) release(ev *evaluation) {
	clear(ev.slots)
	clear(ev.names)
	clear(ev.gotten)
	clear(ev.parts)
	*ev = evaluation{
		slots: ev.slots, gotten: ev.gotten, names: ev.names, vm: ev.vm, tick: ev.tick,
		parts: ev.parts[:0], causes: ev.causes[:0], buf: ev.buf[:0],
	}
	if cap(ev.buf) > maxText/8 { // one large text must not stay for ever
		ev.buf = nil
	}
	clear(ev.vm.Stack[:cap(ev.vm.Stack)])
	clear(ev.vm.Variables)
	p.pool.Put(ev)
}

// decide runs the rules.
func (ev *evaluation) decide() {
	p, v := ev.program, ev.verdict
	if !ev.isFor() {
		return
	}
	prompt := ev.opts.Event == "UserPromptSubmit"
	var chosen *Rule // the first rule that continues
	var more []string
rules:
	for _, r := range p.Rules {
		if prompt && r.decides() || chosen != nil && r.judged {
			continue
		}
		switch outcome := ev.try(r); {
		case outcome == Broken && r.Verb == VerbStop:
			// It may be that the loop should end. With gate: all a stop only ends
			// the reading, so one that cannot be worked out does no more.
			if chosen == nil {
				v.Rule, v.Pos, v.Failed = r.Name, r.Pos, true
				v.Reason = "its condition could not be worked out: " + ev.why
			}
			break rules
		case outcome != Holds:
		case r.Verb == VerbStop:
			if chosen == nil {
				v.Rule, v.Pos = r.Name, r.Pos
				ev.quoted = false
				v.Reason = ev.render(r.text)
				v.Private = ev.quoted
				ev.parts = append(ev.parts, r)
			}
			break rules
		case r.Verb == VerbContinue:
			ev.parts = append(ev.parts, r)
			text := ev.render(r.text)
			if text == "" {
				text = "Continue (rule " + r.Name + ")"
			}
			if chosen == nil {
				chosen = r
				v.Action, v.Rule, v.Pos, v.Reason = Continue, r.Name, r.Pos, text
			} else {
				more = append(more, text)
			}
			if p.Gate == First {
				break rules
			}
		default:
			ev.parts = append(ev.parts, r)
		}
	}
	if chosen != nil {
		if len(more) > 0 {
			v.Reason += "\n\n" + strings.Join(more, "\n\n")
		}
		ev.bound()
	}
	ev.tellParts(prompt)
	ev.tellFacts()
	if !v.Failed && !prompt {
		ev.finish()
	}
}

// decides reports whether the rule says whether the agent may stop.
func (r *Rule) decides() bool { return r.Verb == VerbContinue || r.Verb == VerbStop }

// isFor finds out whether the policy is for this event at all.
func (ev *evaluation) isFor() bool {
	when, v := ev.program.when, ev.verdict
	if when == nil {
		return true
	}
	from, _ := when.place()
	v.Trace.When = &Step{Pos: from}
	switch ev.test(when, v.Trace.When) {
	case Holds:
		return true
	case Broken:
		v.Pos, v.Failed = from, true
		v.Reason = "the policy's own when could not be worked out: " + ev.why
		ev.tell(v.Reason)
	default:
		v.Idle = true
		v.Reason = "the policy is not for this event: its when is not true"
	}
	return false
}

// try finds out whether one rule holds.
func (ev *evaluation) try(r *Rule) Outcome {
	v := ev.verdict
	v.Trace.Steps = append(v.Trace.Steps, Step{Rule: r.Name, Pos: r.Pos})
	s := &v.Trace.Steps[len(v.Trace.Steps)-1]
	if r.Unless != nil {
		if n := ev.facts.Given(ev.ctx, r); n >= r.Unless.Times {
			s.Outcome = SteppedOver
			s.Because = "it was in " + strconv.Itoa(n) + " verdicts already"
			return SteppedOver
		}
	}
	if r.when == nil {
		s.Outcome = Holds
		return Holds
	}
	if ev.test(r.when, s) == Broken {
		ev.tellBroken(r)
	}
	return s.Outcome
}

// test works out a condition and notes in its step what came of it.
func (ev *evaluation) test(when *cond, s *Step) Outcome {
	var start time.Time
	if ev.opts.Traced {
		ev.step = s
		start = time.Now()
	}
	holds, state, by := ev.truth(when)
	if ev.opts.Traced {
		ev.step = nil
		s.Took = time.Since(start)
	}
	switch {
	case state == broken:
		s.Outcome = Broken
		s.Because = ev.why
	case state == unknown:
		s.Outcome = Unknown
		s.Because = ev.why
	case holds:
		s.Outcome = Holds
	default:
		s.Outcome = No
		if by != nil {
			s.Because = by.text
		}
	}
	return s.Outcome
}

// tellBroken tells the person why a rule could not be worked out. Rules often
// share a bad field: it is told once, under the first of them.
func (ev *evaluation) tellBroken(r *Rule) {
	if !slices.Contains(ev.causes, ev.why) {
		ev.causes = append(ev.causes, ev.why)
		ev.tell("rule " + r.Name + ": " + ev.why)
	}
}

// warn notes what only a trace shows.
func (ev *evaluation) warn(message string) {
	ev.verdict.Trace.Warnings = append(ev.verdict.Trace.Warnings, message)
}

// tell notes what the person should know though no rule says it.
func (ev *evaluation) tell(message string) {
	if !slices.Contains(ev.verdict.Problems, message) {
		ev.verdict.Problems = append(ev.verdict.Problems, message)
	}
}

// bound turns a continue into a stop when a limit is reached.
func (ev *evaluation) bound() {
	v, l, row := ev.verdict, ev.program.Limits, ev.loopRow()
	now, ok := ev.progress()
	v.Progress = now
	if !ok {
		v.Progress = row.Progress
	}
	switch {
	case row.Continuations >= l.Continuations:
		v.Bound = "continuations"
		v.Reason = fmt.Sprintf("the limit of %d continuations in a row is reached", l.Continuations)
	case row.Total >= l.Total:
		v.Bound = "total"
		v.Reason = fmt.Sprintf("the limit of %d continuations in a session is reached", l.Total)
	case l.HasRepeats && row.repeats(now, ok) >= l.Repeats:
		v.Bound = "repeats"
		v.Reason = fmt.Sprintf("nothing moved in %d continuations", row.repeats(now, ok))
	case row.Continuations > 0 && row.Elapsed >= l.Elapsed:
		v.Bound = "elapsed"
		v.Reason = fmt.Sprintf("the loop has run for %s, its limit is %s", row.Elapsed.Round(time.Second), l.Elapsed)
	default:
		return
	}
	v.Action, v.Rule, v.Pos = Stop, "limits."+v.Bound, Pos{}
	ev.tell("the loop ends here: " + v.Reason)
}
