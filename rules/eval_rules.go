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

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Eval tries the rules in order and returns the verdict of the first one that decides. It never fails, never panics and
// never returns nil: what cannot be evaluated is reported, and [Verdict.Cause] says what went wrong. Eval asks f only
// for what a reached operand names; a nil f has no facts. If ctx is done or the budget is spent, the agent may stop,
// wherever the evaluation is.
//
// Eval stores nothing: the limits of the policy hold if you pass the verdict's memory to the next Eval. You may modify
// the verdict, except the steps of a short trace, which verdicts share. Eval is safe for concurrent use, if each call
// has its own f.
func (p *Program) Eval(ctx context.Context, f Facts, o Options) *Verdict {
	return p.eval(ctx, f, &o, (*evaluation).decide)
}

// eval returns the verdict that decide makes.
func (p *Program) eval(ctx context.Context, f Facts, o *Options, decide func(*evaluation)) *Verdict {
	if p == nil || p.machine.table == nil {
		return &Verdict{Cause: FaultRule, Reason: noPolicy, Problems: []Problem{{Text: noPolicy}}, Memory: o.Memory, Project: o.Project, Session: o.Session}
	}
	if o.Memory.negative() || o.Session.negative() {
		why := errNegative.Error()
		return &Verdict{Cause: FaultMemory, Reason: why, Problems: []Problem{{Text: why}}, Memory: o.Memory, Project: o.Project, Session: o.Session}
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
	ev, ok := p.machine.pool.Get().(*evaluation)
	if !ok {
		n := p.machine.table.size()
		ev = &evaluation{slots: make([]slot, n, n+8), gotten: make([]gathered, len(p.facts)), latest: []*Step{}}
		ev.names = map[string]any{meterKey: &ev.meter}
	}
	defer p.release(ev)
	// Allocated together, which is a good part of a short evaluation.
	room := &struct {
		Verdict
		parts [1]Part
	}{}
	v := &room.Verdict
	v.Parts = room.parts[:0]
	v.Memory = o.Memory
	v.Project = o.Project
	v.Session = o.Session
	ev.program, ev.facts, ev.verdict = p, f, v
	ev.event = event{name: o.Event, now: o.Time, busy: o.Busy, untrusted: o.Untrusted, policy: o.Policy, watch: o.Watch, inRun: o.Run, stopped: o.Stopped, allow: o.Allow}
	ev.trace.level = o.Trace
	ev.meter.begin(ctx, o.Budget)
	m := &v.Memory
	// A turn without continuations needs no memory: most stops of most agents write nothing.
	said := m.Streak > 0 || len(m.Said) > 0
	v.Changed = m.begin(o) && said
	v.SessionChanged = v.Session.beginTurn(o)
	ev.used.repeats = m.Same
	if ev.trace.full() {
		ev.trace.start, ev.trace.scratch = time.Now(), ev.meter
	}
	if p.machine.overlaps || p.rest != nil {
		c, ok := f.(ConcurrentFacts)
		ev.gathering.overlaps = ok && c.Concurrent()
	}
	if ev.permitted() {
		ev.run(decide)
	}
	if ev.gathering.endNotes != nil {
		ev.gathering.endNotes()
	}
	ev.remember()
	v.Cost.Steps = ev.meter.spent
	v.Trace.Steps = ev.latest[:ev.trace.same:ev.trace.same]
	if ev.trace.full() {
		ev.latest = []*Step{}
	}
	if len(v.Parts) == 0 {
		v.Parts = nil
	}
	return v
}

// run decides, and turns a panic that ends the evaluation early into a stop.
func (ev *evaluation) run(decide func(*evaluation)) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		v := ev.verdict
		at, what := ev.place()
		*v = Verdict{Cause: FaultPanic, Pos: at, Trace: v.Trace, Memory: v.Memory, Project: v.Project, Session: v.Session, Changed: v.Changed, SessionChanged: v.SessionChanged}
		switch {
		case ev.meter.over == nil:
			v.Panic = &PanicError{Value: r, Stack: debug.Stack()}
			v.Reason, v.Private = v.Panic.Error(), ev.met.read
		case ev.meter.ctx.Err() != nil:
			v.Cause, v.Reason = FaultContext, "the evaluation was interrupted: "+ev.meter.over.Error()
		default:
			v.Cause, v.Reason = FaultBudget, ev.meter.over.Error()
			if v.Pos.Line == 0 {
				v.Pos = Pos{File: ev.program.Name, Line: 1, Col: 1}
			}
		}
		problem := masked(v.Reason, v.Private)
		if ev.here.trying {
			ev.tried(ev.trace.step, Broken, problem.shown, 0)
		}
		if v.Pos.Line > 0 {
			problem = sentencef("%s: %s%s", v.Pos, what, problem)
		}
		v.Problems = []Problem{problemOf(problem)}
	}()
	ev.meter.charge(1) // checks the context
	decide(ev)
	ev.settle()
	if ev.trace.full() && ev.untried == "" {
		ev.verdict.Limits = ev.limits()
	}
	ev.meter.look = 0
	ev.meter.charge(0)
	ev.measure()
}

// place returns the current position in the policy, and what is evaluated there.
func (ev *evaluation) place() (at Pos, what string) {
	switch {
	case ev.here.at != 0:
		o := ev.program.operand(ev.here.at)
		return o.src.pos(), cut(o.src.text, 60) + ": "
	case ev.here.in != nil:
		return ev.here.in.scope.file.at(ev.here.in.node.Start), "the text: "
	case ev.here.rule != nil:
		return ev.here.rule.Pos, ""
	}
	return Pos{}, ""
}

func (p *Program) release(ev *evaluation) {
	ev.current = current{}
	ev.meter = meter{}
	clear(ev.slots)
	clear(ev.gotten)
	if len(ev.names) > 1 {
		clear(ev.names)
		ev.names[meterKey] = &ev.meter
		clear(ev.vm.Stack[:cap(ev.vm.Stack)])
		clear(ev.vm.Variables)
	}
	clear(ev.problems)
	ev.problems, ev.explained, ev.parts, ev.ran, ev.causes = ev.problems[:0], ev.explained[:0], ev.parts[:0], ev.ran[:0], ev.causes[:0]
	if cap(ev.buf) > maxText/8 { // do not keep one large buffer
		ev.buf = nil
	}
	p.machine.pool.Put(ev)
}

// own reports whether the embedding program declares the event.
func (ev *evaluation) own() bool {
	return slices.Contains(ev.program.machine.compiler.load.cfg.Events, ev.event.name)
}

// watches reports whether the event accepts no verb.
func (ev *evaluation) watches() bool { return vocab.Watched(ev.event.name) && !ev.own() }

// compacts reports whether the event is a compaction.
func (ev *evaluation) compacts() bool { return ev.event.name == vocab.PreCompact && !ev.own() }

// passes reports whether the event ends no turn, and so no streak. Hosts show no notices at it.
func (ev *evaluation) passes() bool { return vocab.Passes(ev.event.name) && !ev.own() }

// mute reports whether rules decide nothing at this event: a prompt, an event that accepts no verb, or a
// compaction that cannot be blocked. Blocking an automatic one can end the session in an overflow, so a policy must be
// able to distinguish it.
func (ev *evaluation) mute() bool {
	switch {
	case ev.event.prompt(), ev.watches(), ev.event.watch:
		return true
	case !ev.compacts() || ev.program.machine.table.find(nameKey(vocab.Trigger)) != nil:
		return false
	}
	trigger, _ := ev.facts.Name(ev.meter.ctx, vocab.Trigger).(string)
	return trigger != "manual"
}

// decide tries the rules if the policy is for the event, and reports an end.
func (ev *evaluation) decide() {
	if !slices.Contains(ev.program.Events, ev.event.name) {
		ev.untried = NotListed
		ev.verdict.Cause, ev.verdict.Reason = NotListed, "the policy does not decide "+ev.event.name
		return
	}
	if ev.head() && ev.complete() {
		ev.tryRules()
	}
	ev.reportEnd()
}

// tryRules tries the rules.
func (ev *evaluation) tryRules() {
	p, v := ev.program, ev.verdict
	ev.joinSession()
	ev.checkValues()
	prompt, mute, watches := ev.event.prompt(), ev.mute(), ev.watches()
	var chosen *Rule // the first rule that continues
	var more []string
	quoted := false     // a text for the agent contains something private
	var undecided Cause // of the first rule that could have decided
	var because sentence
	var late []lateNote
	all := !mute && ev.event.untrusted == "" && (v.Loop == nil || !v.Loop.Gone)
	asked := 0 // of the rules: what these need was gathered at the same time, as far as it can be
rules:
	for i, r := range p.rules {
		if mute && r.decides() || watches && r.Verb == verbNote || chosen != nil && r.judged() {
			continue
		}
		if r.late {
			late = append(late, lateNote{r, len(ev.parts)})
			continue
		}
		if all && p.machine.overlaps && i >= asked {
			asked = i + ev.ahead(p.rules[i:])
		}
		outcome := ev.try(r)
		fault := ev.fault(outcome)
		if fault != "" && r.decides() {
			ev.met.doubt = true
			if undecided == "" {
				undecided, because = fault, ev.undecided(r)
			}
		}
		switch {
		case fault != "" && r.stops(), fault == FaultApproval && r.decides(), r.ends(outcome):
			// The loop may have to end. With gate: all a stop only ends the reading, and so does one that is undecided.
			ev.endTrying(r, fault, chosen == nil)
			break rules
		case outcome != Holds:
		case r.stops():
			if chosen == nil {
				hollow := ev.hollow(r) // rendering reads other lists
				v.Action, v.Rule, v.Pos, v.Success = r.action(), r.Name, r.Pos, r.Success && hollow == nil
				if r.Await != nil {
					v.Wait = ev.waiting(r)
				}
				ev.here.quoted = false
				v.Reason = escape.Person(ev.reason(r))
				v.Private = ev.here.quoted
				if hollow != nil {
					v.Reason += ", but " + hollow.full
					v.Private = v.Private || hollow.private()
					ev.reportInstead(sentencef("the rule %s is no success: %s", r.Name, *hollow), true)
				}
				ev.parts = append(ev.parts, r)
			}
			break rules
		case r.Verb == verbContinue:
			ev.met.unapproved = sentence{}
			ev.here.quoted = false
			text := ev.shownText(r.says.text)
			if ev.met.unapproved.full != "" { // the rule needs it, though its condition does not
				ev.last.why, ev.last.lack = ev.met.unapproved, withheld
				ev.endTrying(r, FaultApproval, chosen == nil)
				break rules
			}
			ev.parts = append(ev.parts, r)
			quoted = quoted || ev.here.quoted
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
		v.Private = quoted && v.Action == Continue
	}
	ev.tryNotes(late)
	if chosen == nil && v.Rule == "" && v.Loop != nil && v.Loop.Gone {
		v.Reason = "the loop's file is gone: " + v.Loop.State
	}
	ev.reportParts(prompt)
	v.Success = v.Success && !ev.met.doubt // otherwise a rule above it might have continued
	if v.Cause == "" && !prompt {
		ev.finish()
	}
	if chosen == nil && v.Rule == "" {
		v.Cause = undecided
		v.Reason, v.Private = cmp.Or(v.Reason, because.full), v.Private || because.private()
	}
}

// reason returns the reason of a stop or a wait, or a question, which the user sees.
func (ev *evaluation) reason(r *Rule) string {
	if r.Verb == verbAsk {
		return cmp.Or(ev.shownText(r.says.text), "The rule "+r.Name+" asks you")
	}
	return ev.render(r.says.text)
}

// undecided returns why a rule that was tried is neither true nor false.
func (ev *evaluation) undecided(r *Rule) sentence {
	if ev.last.lack == withheld {
		return sentencef("the rule %s needs your approval: %s", r.Name, ev.last.why)
	}
	return sentencef("the rule %s is undecided: %s", r.Name, ev.last.why)
}

// endTrying reports a rule that might have decided and is undecided, and makes the verdict a stop if no rule has chosen
// to continue. The session sees the reason again once it has changed.
func (ev *evaluation) endTrying(r *Rule, fault Cause, stops bool) {
	v, because := ev.verdict, ev.undecided(r)
	if stops {
		v.Rule, v.Pos, v.Cause = r.Name, r.Pos, fault
		v.Reason, v.Private = because.full, because.private()
	}
	ev.reportInstead(because, stops)
}

// reportedBy drops what is wrong with facts and fields where a reason that is reported ends with it.
func (ev *evaluation) reportedBy(because sentence) {
	ev.problems = slices.DeleteFunc(ev.problems, func(p reported) bool { return strings.HasSuffix(because.full, p.Text) })
	for _, f := range ev.program.facts {
		g := ev.got(f)
		what := g.sentence().full
		if g.Status == OK {
			what = g.Problem
		}
		if what != "" && strings.HasSuffix(because.full, what) {
			ev.explained = append(ev.explained, f)
		}
	}
}

// fault returns why a condition is undecided, given its outcome; an ordinary missing fact is no fault.
func (ev *evaluation) fault(o Outcome) Cause {
	switch {
	case o != Broken && o != Unknown:
		return ""
	case ev.last.lack == withheld:
		return FaultApproval
	case o == Broken:
		return FaultRule
	case ev.last.lack == unusable:
		return FaultFact
	}
	return ""
}

// isFor reports whether the policy applies to this event.
func (ev *evaluation) isFor() bool {
	when, v := ev.program.head.when, ev.verdict
	if when == nil {
		return true
	}
	from, _ := when.place()
	s := &Step{Pos: from}
	v.Trace.When = s
	s.Outcome, s.Because = ev.test(when, s)
	v.Cause = ev.fault(s.Outcome)
	switch {
	case s.Outcome == Holds:
		return true
	case v.Cause != "":
		v.Pos = from
		why := sentencef("the policy's own when could not be evaluated: %s", ev.last.why)
		v.Reason, v.Private = why.full, why.private()
		ev.reportInstead(why, true)
	default:
		ev.untried, v.Cause = NotFor, NotFor
		v.Reason = "the policy is not for this event: its when is not true"
	}
	return false
}

// try evaluates whether a rule holds.
func (ev *evaluation) try(r *Rule) Outcome {
	v := ev.verdict
	ev.here.rule = r
	if r.Verb == verbContinue && v.Loop != nil && v.Loop.Gone {
		return ev.tried(nil, No, "the loop's file is gone", 0)
	}
	repeated := 0
	if r.Unless != nil {
		if repeated = r.repeated(&v.Memory, &v.Project, ev.event.now); repeated >= r.Unless.Times {
			return ev.tried(nil, SteppedOver, "it was already in "+strconv.Itoa(repeated)+" verdicts", repeated)
		}
	}
	if r.when == nil {
		return ev.tried(nil, Holds, "", repeated)
	}
	var s *Step
	if ev.trace.full() {
		s = &Step{}
	}
	ev.here.trying, ev.met.gap = true, nil
	outcome, because := ev.test(r.when, s)
	ev.here.trying = false
	if outcome == Broken && !r.stops() && !r.Halts { // the trying ends with a stop rule, which is reported
		ev.reportBroken(r)
	}
	if r.Await != nil {
		outcome, because = ev.awaited(r, outcome, because)
	}
	return ev.tried(s, outcome, because, repeated)
}

// tried adds the step of the rule to the trace: s, which has its operands, or nil. Verdicts share equal steps with the
// latest evaluation, which saves most of their memory.
func (ev *evaluation) tried(s *Step, o Outcome, because string, repeated int) Outcome {
	r, n := ev.here.rule, ev.trace.same
	ev.trace.same++
	if n < len(ev.latest) {
		if old := ev.latest[n]; s == nil && old.Rule == r.Name && old.Outcome == o && old.Because == because && old.Repeated == repeated {
			return o
		}
		ev.latest = slices.Clone(ev.latest[:n])
	}
	if s == nil {
		s = &Step{}
	}
	s.Rule, s.Pos, s.Outcome, s.Because, s.Repeated = r.Name, r.Pos, o, because, repeated
	ev.latest = append(ev.latest, s)
	return o
}

// test evaluates a condition. because says why it does not hold. A full trace records the operands in s.
func (ev *evaluation) test(when *cond, s *Step) (o Outcome, because string) {
	if ev.trace.full() {
		ev.trace.step = s
		s.Start = time.Since(ev.trace.start)
	}
	holds, state, by := ev.truth(when)
	if ev.trace.full() {
		ev.trace.step = nil
		s.Took = time.Since(ev.trace.start) - s.Start
	}
	switch {
	case state == broken:
		return Broken, ev.last.why.shown
	case state == unknown:
		return Unknown, ev.last.why.shown
	case holds:
		return Holds, ""
	}
	if r := ev.here.rule; r != nil && r.until.has(by) {
		return No, "its until is true: " + by.src.shown
	}
	return No, by.src.shown
}

// reportBroken reports why a rule could not be evaluated. Rules often share an invalid field: it is reported once,
// under the first of them.
func (ev *evaluation) reportBroken(r *Rule) {
	if !slices.Contains(ev.causes, ev.last.why.full) {
		ev.causes = append(ev.causes, ev.last.why.full)
		ev.report(sentencef("rule %s: %s", r.Name, ev.last.why))
	}
}

// warn records what only a trace shows.
func (ev *evaluation) warn(message sentence) {
	ev.verdict.Trace.Warnings = append(ev.verdict.Trace.Warnings, message.shown)
}

// complete continues with the whole program if only its head was loaded.
func (ev *evaluation) complete() bool {
	if ev.program.rest == nil {
		return true
	}
	full, diags := ev.program.rest.get(ev.meter.ctx)
	if full != nil {
		ev.program = full
		for len(ev.gotten) < len(full.facts) {
			ev.gotten = append(ev.gotten, gathered{})
		}
		return ev.permitted()
	}
	ev.refuse(diags)
	return false
}

// refuse makes the verdict a stop because of errors of the policy.
func (ev *evaluation) refuse(diags Diagnostics) {
	v := ev.verdict
	v.Cause, v.Reason = FaultRule, "the policy cannot be used"
	if ev.meter.ctx.Err() != nil {
		v.Cause, v.Reason = FaultContext, "the policy could not be loaded in time"
	}
	lines := strings.Split(diags.Err().Error(), "\n")
	problem := "the policy cannot be used: " + lines[0]
	if more := len(lines) - 1; more > 0 {
		problem += fmt.Sprintf(" (and %d more)", more)
	}
	ev.report(public(problem))
}
