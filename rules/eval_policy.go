package rules

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// evaluation is the state of one Eval. It is used by one goroutine and reused.
type evaluation struct {
	program   *Program
	ctx       context.Context
	facts     Facts
	opts      Options
	memory    Memory // as this event finds it: of its turn
	repeats   int    // latest continuations with the same progress as now, as far as it is known
	failed    string // how the turn failed, "" if it did not; known once a rule chose to continue, as the next ones
	meter     meter
	scratch   meter // of what only a trace shows
	vm        vm.VM
	slots     []slot         // by symbol
	gotten    []gathered     // by fact
	names     map[string]any // values by key, as expr's machine finds them
	verdict   *Verdict
	start     time.Time  // of a full trace
	rule      *Rule      // that is tried, or says something
	at        *operand   // that is evaluated
	in        *text      // that is rendered, outside of its holes
	why       sentence   // of the latest unknown or broken operand
	bad       bool       // and whether that is more than ordinary: something that exists cannot be used
	mark      *mask      // of the latest value of an operand
	step      *Step      // that operands are traced into, nil if not
	parts     []*Rule    // rules that have something to say with the verdict
	ran       []*operand // of lets that may leave them out
	causes    []string   // of broken rules, each is reported once
	problems  []reported
	explained []*Fact // whose problem is part of a text that goes out
	doubt     bool    // something that could not be used may have kept a rule from continuing
	looking   bool    // a look at the loop, of which no decision comes
	saw       bool    // the session is shown something that it remembers
	buf       []byte  // for texts

	iteration int // of the run, 0 outside of one
	tokens    int // used, where there is a limit
	cost      float64

	rendering bool // a text is rendered: what is read now decides nothing
	settled   bool // all is decided: nothing is read for the first time any more
	goesOut   bool // the text that is rendered is for the agent or the user
	quoted    bool // a text shows what traces do not
	read      bool // anything private was read
}

// slot is what an evaluation knows of one symbol.
type slot struct {
	seen  bool
	busy  bool
	state truth
	why   sentence
	bad   bool
	value any
	mark  *mask
}

// Eval tries the rules in order and gives what the first one that holds says. It
// never fails, never panics and never gives nil: what cannot be evaluated fails
// safe and is reported, and [Verdict.Fault] says what went wrong. f is asked only for
// what a reached operand names; nil answers nothing. Once ctx is done or the budget
// is spent the agent may stop, wherever the evaluation is.
//
// Eval keeps nothing: the limits of the policy hold if the memory of the verdict
// comes back with the next event. The verdict is the caller's own. Eval may be called
// by many goroutines at once, each with its own f.
func (p *Program) Eval(ctx context.Context, f Facts, o Options) *Verdict {
	return p.eval(ctx, f, &o, (*evaluation).decide)
}

// eval makes a verdict by what a function of an evaluation decides.
func (p *Program) eval(ctx context.Context, f Facts, o *Options, decide func(*evaluation)) *Verdict {
	if p == nil || p.table == nil {
		return &Verdict{Fault: FaultRule, Reason: noPolicy, Problems: []Problem{{Text: noPolicy}}, Memory: o.Memory, Project: o.Project}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if f == nil {
		f = values(nil)
	}
	if o.Event == "" {
		o.Event = vocab.Stop
	}
	ev, ok := p.pool.Get().(*evaluation)
	if !ok {
		ev = &evaluation{gotten: make([]gathered, len(p.facts))}
		ev.names = map[string]any{meterKey: &ev.meter}
	}
	defer p.release(ev)
	n := p.table.size()
	if cap(ev.slots) < n {
		ev.slots = make([]slot, n, n+8)
	}
	ev.slots = ev.slots[:n]
	ev.program, ev.ctx, ev.facts, ev.opts = p, ctx, f, *o
	ev.meter.begin(ctx, o.Budget)
	ev.scratch = ev.meter
	ev.memory = o.Memory
	if m := &ev.memory; min(m.Streak, m.Total, m.Same, m.Failures) < 0 {
		m.Streak, m.Total, m.Same, m.Failures = max(0, m.Streak), max(0, m.Total), max(0, m.Same), max(0, m.Failures)
		ev.report(public("a count of the memory is negative, and counts as 0"))
	}
	ev.memory.begin(o)
	ev.repeats = ev.memory.Same
	ev.verdict = newVerdict(len(p.rules))
	if o.Trace > TraceShort {
		ev.start = time.Now()
	}
	ev.run(decide)
	ev.remember()
	ev.verdict.Cost.Steps = ev.meter.spent
	if len(ev.verdict.Parts) == 0 {
		ev.verdict.Parts = nil
	}
	return ev.verdict
}

// run decides, and turns whatever ends the evaluation early into a stop.
func (ev *evaluation) run(decide func(*evaluation)) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		v := ev.verdict
		*v = Verdict{Fault: FaultPanic, Pos: ev.place(), Trace: v.Trace}
		switch {
		case ev.meter.over == nil:
			v.Reason, v.Private = fmt.Sprintf("internal error: %v", r), ev.read
			ev.warn(public(string(debug.Stack())))
		case ev.ctx.Err() != nil:
			v.Fault, v.Reason = FaultContext, "the evaluation was interrupted: "+ev.meter.over.Error()
		default:
			v.Fault, v.Reason = FaultBudget, ev.meter.over.Error()
			if v.Pos.Line == 0 {
				v.Pos = Pos{File: ev.program.Name, Line: 1, Col: 1}
			}
		}
		if n := len(v.Trace.Steps); n > 0 && v.Trace.Steps[n-1].Outcome == "" {
			v.Trace.Steps[n-1].Outcome, v.Trace.Steps[n-1].Because = Broken, ev.show(masked(v.Reason, v.Private))
		}
		problem := masked(v.Reason, v.Private)
		if v.Pos.Line > 0 {
			problem = sentencef("%s: %s%s", v.Pos, ev.doing(), problem)
		}
		v.Problems = []Problem{problemOf(problem)}
	}()
	ev.meter.charge(1) // looks at the context
	decide(ev)
	ev.settle()
	if ev.full() && !ev.verdict.Idle {
		ev.verdict.Limits = ev.limits()
	}
	ev.meter.look = 0
	ev.meter.charge(0)
	ev.measure()
}

// newVerdict makes a verdict with room for the steps of n rules; for a few of them in
// one piece, since making it is a good part of a short evaluation.
func newVerdict(n int) *Verdict {
	if n > 8 {
		return &Verdict{Trace: Trace{Steps: make([]Step, 0, n)}}
	}
	room := &struct {
		Verdict
		steps [8]Step
		parts [1]Part
	}{}
	room.Trace.Steps, room.Parts = room.steps[:0], room.parts[:0]
	return &room.Verdict
}

// place is where the evaluation is, in the policy.
func (ev *evaluation) place() Pos {
	switch {
	case ev.at != nil:
		return ev.at.pos()
	case ev.in != nil:
		return Pos{File: ev.in.scope.file.name, Line: ev.in.node.Start.Line, Col: ev.in.node.Start.Col}
	case ev.rule != nil:
		return ev.rule.Pos
	}
	return Pos{}
}

// doing names what is evaluated at that place.
func (ev *evaluation) doing() string {
	switch {
	case ev.at != nil:
		return cut(ev.at.text, 60) + ": "
	case ev.in != nil:
		return "the text: "
	}
	return ""
}

func (p *Program) release(ev *evaluation) {
	clear(ev.slots)
	if len(ev.names) > 1 {
		clear(ev.names)
		ev.names[meterKey] = &ev.meter
	}
	clear(ev.gotten)
	clear(ev.parts)
	clear(ev.ran)
	// Field by field: clearing all at once takes longer than most rules.
	ev.program, ev.ctx, ev.facts, ev.verdict, ev.meter.ctx, ev.meter.over, ev.meter.answers = nil, nil, nil, nil, nil, nil, nil
	ev.opts.Memory, ev.opts.Project, ev.memory = Memory{}, Memory{}, Memory{}
	ev.at, ev.in, ev.step, ev.why, ev.mark, ev.rendering, ev.quoted, ev.read, ev.doubt, ev.saw, ev.looking, ev.bad = nil, nil, nil, sentence{}, nil, false, false, false, false, false, false, false
	clear(ev.problems)
	clear(ev.explained)
	ev.problems, ev.explained = ev.problems[:0], ev.explained[:0]
	ev.failed, ev.iteration, ev.tokens, ev.cost = "", 0, 0, 0
	ev.parts, ev.ran, ev.causes, ev.buf = ev.parts[:0], ev.ran[:0], ev.causes[:0], ev.buf[:0]
	if cap(ev.buf) > maxText/8 { // one large text must not stay for ever
		ev.buf = nil
	}
	clear(ev.vm.Stack[:cap(ev.vm.Stack)])
	clear(ev.vm.Variables)
	p.pool.Put(ev)
}

// prompt reports whether nothing is decided at this event.
func (ev *evaluation) prompt() bool { return ev.opts.Event == vocab.UserPromptSubmit }

// own reports whether the event is one of the embedding program.
func (ev *evaluation) own() bool {
	return slices.Contains(ev.program.compiler.load.cfg.Events, ev.opts.Event)
}

// watches reports whether the event takes no verb.
func (ev *evaluation) watches() bool { return vocab.Watched(ev.opts.Event) && !ev.own() }

// compacts reports whether the event is a compaction. One that a rule does not stop ends
// no streak.
func (ev *evaluation) compacts() bool { return ev.opts.Event == vocab.PreCompact && !ev.own() }

// mute reports whether continue and stop say nothing at this event: a prompt, an event
// that takes no verb, or a compaction that cannot be blocked. Blocking an automatic one can
// end the session in an overflow, so a policy has to know that there are such.
func (ev *evaluation) mute() bool {
	switch {
	case ev.prompt(), ev.watches(), ev.opts.Watch:
		return true
	case !ev.compacts() || ev.program.table.find(nameKey(vocab.Trigger)) != nil:
		return false
	}
	trigger, _ := ev.facts.Name(ev.ctx, vocab.Trigger).(string)
	return trigger != "manual"
}

// full reports whether operands, facts and durations are noted.
func (ev *evaluation) full() bool { return ev.opts.Trace > TraceShort }

// decide runs the rules.
func (ev *evaluation) decide() {
	p, v := ev.program, ev.verdict
	if !slices.Contains(p.Events, ev.opts.Event) {
		v.Idle, v.Reason = true, "the policy does not decide "+ev.opts.Event
		return
	}
	if !ev.head() || !ev.complete() {
		return
	}
	p = ev.program
	ev.checkValues()
	prompt, mute, watches := ev.prompt(), ev.mute(), ev.watches()
	var chosen *Rule // the first rule that continues
	var more []string
	var undecided Fault // of the first rule that might have decided
	var because sentence
rules:
	for _, r := range p.rules {
		if mute && r.decides() || watches && r.Verb == verbNote || chosen != nil && r.judged() {
			continue
		}
		outcome := ev.try(r)
		if fault := ev.fault(outcome); fault != "" && r.decides() {
			ev.doubt = ev.doubt || r.Verb == verbContinue
			if undecided == "" {
				undecided, because = fault, sentencef("the rule %s is undecided: %s", r.Name, ev.why)
			}
		}
		switch {
		case outcome == Broken && r.Verb == verbStop:
			// It may be that the loop should end. With gate: all a stop only ends
			// the reading, so one that cannot be evaluated does no more.
			if chosen == nil {
				v.Rule, v.Pos, v.Fault = r.Name, r.Pos, FaultRule
				why := sentencef("its condition could not be evaluated: %s", ev.why)
				v.Reason, v.Private = why.full, why.private()
			}
			break rules
		case outcome != Holds:
		case r.Verb == verbStop:
			if chosen == nil {
				v.Rule, v.Pos, v.Success = r.Name, r.Pos, r.Success
				ev.quoted = false
				v.Reason = ev.render(r.text)
				v.Private = ev.quoted
				ev.parts = append(ev.parts, r)
			}
			break rules
		case r.Verb == verbContinue:
			ev.parts = append(ev.parts, r)
			text := ev.shownText(r.text)
			if text == "" {
				text = "Continue (rule " + r.Name + ")"
			}
			if chosen == nil {
				chosen = r
				v.Action, v.Rule, v.Pos, v.Reason = Continue, r.Name, r.Pos, text
			} else {
				more = append(more, text)
			}
			if p.Gate == gateFirst {
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
		v.Reason = ev.capped(chosen, v.Reason)
		ev.bound()
	}
	if chosen == nil && v.Rule == "" && v.Loop != nil && v.Loop.Gone {
		v.Reason = "the loop's file is gone: " + v.Loop.State
	}
	ev.reportParts(prompt)
	v.Success = v.Success && !ev.doubt // else a rule above it might have continued
	if v.Fault == "" && !prompt {
		ev.finish()
	}
	if chosen == nil && v.Rule == "" {
		v.Fault = undecided
		v.Reason, v.Private = cmp.Or(v.Reason, because.full), v.Private || because.private()
	}
}

// fault is why a condition could not be judged, given its outcome; an ordinary missing
// fact is no fault.
func (ev *evaluation) fault(o Outcome) Fault {
	switch {
	case o == Broken:
		return FaultRule
	case o == Unknown && ev.bad:
		return FaultFact
	}
	return ""
}

// decides reports whether the rule says whether the agent may stop.
func (r *Rule) decides() bool { return r.Verb == verbContinue || r.Verb == verbStop }

// isFor finds out whether the policy is for this event at all.
func (ev *evaluation) isFor() bool {
	when, v := ev.program.when, ev.verdict
	if when == nil {
		return true
	}
	from, _ := when.place()
	v.Trace.When = &Step{Pos: from}
	outcome := ev.test(when, v.Trace.When)
	v.Fault = ev.fault(outcome)
	switch outcome {
	case Holds:
		return true
	case Broken:
		v.Pos = from
		why := sentencef("the policy's own when could not be evaluated: %s", ev.why)
		v.Reason, v.Private = why.full, why.private()
		ev.report(why)
	default:
		v.Idle = true
		v.Reason = "the policy is not for this event: its when is not true"
	}
	return false
}

// try finds out whether one rule holds.
func (ev *evaluation) try(r *Rule) Outcome {
	v := ev.verdict
	ev.rule = r
	n := len(v.Trace.Steps)
	v.Trace.Steps = v.Trace.Steps[:n+1] // there is room for all rules
	s := &v.Trace.Steps[n]
	s.Rule, s.Pos = r.Name, r.Pos
	if r.Verb == verbContinue && v.Loop != nil && v.Loop.Gone {
		s.Outcome, s.Because = No, "the loop's file is gone"
		return No
	}
	if r.Unless != nil {
		s.Repeated = r.repeated(&ev.memory, &ev.opts)
		if n := s.Repeated; n >= r.Unless.Times {
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
		ev.reportBroken(r)
	}
	return s.Outcome
}

// test evaluates a condition and notes in its step what came of it.
func (ev *evaluation) test(when *cond, s *Step) Outcome {
	if ev.full() {
		ev.step = s
		s.Start = time.Since(ev.start)
	}
	holds, state, by := ev.truth(when)
	if ev.full() {
		ev.step = nil
		s.Took = time.Since(ev.start) - s.Start
	}
	switch {
	case state == broken:
		s.Outcome = Broken
		s.Because = ev.show(ev.why)
	case state == unknown:
		s.Outcome = Unknown
		s.Because = ev.show(ev.why)
	case holds:
		s.Outcome = Holds
	default:
		s.Outcome = No
		if by != nil {
			s.Because = by.shown()
		}
	}
	return s.Outcome
}

// reportBroken reports to the user why a rule could not be evaluated. Rules often
// share a bad field: it is reported once, under the first of them.
func (ev *evaluation) reportBroken(r *Rule) {
	if !slices.Contains(ev.causes, ev.why.full) {
		ev.causes = append(ev.causes, ev.why.full)
		ev.report(sentencef("rule %s: %s", r.Name, ev.why))
	}
}

// warn notes what only a trace shows.
func (ev *evaluation) warn(message sentence) {
	ev.verdict.Trace.Warnings = append(ev.verdict.Trace.Warnings, ev.show(message))
}

// complete continues with the whole of a program of which only the head was loaded.
func (ev *evaluation) complete() bool {
	if ev.program.rest == nil {
		return true
	}
	full, diags := ev.program.rest.get(ev.ctx)
	if full != nil {
		ev.program = full
		for len(ev.gotten) < len(full.facts) {
			ev.gotten = append(ev.gotten, gathered{})
		}
		if n := len(full.rules) - cap(ev.verdict.Trace.Steps); n > 0 {
			ev.verdict.Trace.Steps = make([]Step, 0, len(full.rules))
		}
		return true
	}
	v := ev.verdict
	v.Fault, v.Reason = FaultRule, "the policy cannot be used"
	if ev.ctx.Err() != nil {
		v.Fault, v.Reason = FaultContext, "the policy could not be loaded in time"
	}
	lines := strings.Split(diags.Err().Error(), "\n")
	problem := "the policy cannot be used: " + lines[0]
	if more := len(lines) - 1; more > 0 {
		problem += fmt.Sprintf(" (and %d more)", more)
	}
	ev.report(public(problem))
	return false
}
