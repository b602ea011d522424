package rules

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxNoteTime bounds how long the slow facts of notes take in all.
const maxNoteTime = 500 * time.Millisecond

var errNoteTime = errors.New("was not gathered: facts of notes may take " + maxNoteTime.String() + " in all")

// request is the request for a fact, and the answer.
type request struct {
	fact    *Fact
	ctx     context.Context // nil: it cannot be asked, and v says why
	args    []string
	private bool     // some argument is
	asked   bool     // the question to a model contains something private
	problem sentence // of the arguments
	v       Value

	start, took time.Duration // in a full trace
	panicked    any           // by the Facts, while others were gathered
}

// request evaluates the arguments of a fact.
func (ev *evaluation) request(f *Fact) request {
	q := request{fact: f}
	if ev.trace.full() {
		q.start = time.Since(ev.trace.start)
	}
	quiet := ev.arguments(&q)
	switch {
	case q.problem.full != "":
		q.v = Value{Status: Missing, Problem: q.problem.full, Quiet: quiet}
	case f.Source.Argument == argumentWords && ev.event.untrusted != "": // a program would run in the project
		q.v = Value{Status: Withheld, Problem: "is not run: " + ev.event.untrusted}
		q.problem = public(q.v.Problem)
	case ev.gathering.noting && f.slow():
		if ev.gathering.notes == nil {
			ev.gathering.notes, ev.gathering.endNotes = context.WithTimeoutCause(ev.meter.ctx, maxNoteTime, errNoteTime)
		}
		q.ctx = ev.gathering.notes
	default:
		q.ctx = ev.meter.ctx
	}
	return q
}

// ask gathers a fact. It may run beside others.
func (ev *evaluation) ask(q *request) {
	if q.v = ev.facts.Fact(q.ctx, q.fact, q.args); !q.v.sound() {
		q.v = ValueOf(q.fact, q.v)
	}
	q.v = q.v.begun(q.ctx)
	if q.v.Status == Missing && context.Cause(q.ctx) == errNoteTime {
		q.v = Value{Status: Missing, Problem: errNoteTime.Error()}
	}
	if ev.trace.full() {
		q.took = time.Since(ev.trace.start) - q.start
	}
}

// askBeside gathers a fact in a goroutine of its own, and keeps how that panicked.
func (ev *evaluation) askBeside(q *request) {
	q.panicked = "the source ended its goroutine"
	defer func() {
		if r := recover(); r != nil {
			q.panicked = r
		}
	}()
	ev.ask(q)
	q.panicked = nil
}

// together gathers facts at the same time. need finds the answers later, in the order of the rules, so that the verdict
// does not depend on which came first.
func (ev *evaluation) together(facts []*Fact) {
	if !ev.gathering.overlaps || ev.settled {
		return
	}
	var ready []*Fact
	for _, f := range facts {
		if !slices.Contains(ready, f) && !ev.seen(f) && ev.early(f) == nil && ev.ready(f) {
			ready = append(ready, f)
		}
	}
	if len(ready) < 2 {
		return
	}
	var all sync.WaitGroup
	for _, f := range ready {
		q := ev.request(f)
		ev.gathering.earlier = append(ev.gathering.earlier, &q)
		if q.ctx == nil {
			continue
		}
		all.Go(func() { ev.askBeside(&q) })
	}
	all.Wait()
}

// seen reports whether a fact was gathered and used.
func (ev *evaluation) seen(f *Fact) bool {
	return f.plan.sym.slot < len(ev.slots) && ev.slots[f.plan.sym.slot].seen
}

// early returns the answer for a fact that was gathered beside others, or nil.
func (ev *evaluation) early(f *Fact) *request {
	for _, q := range ev.gathering.earlier {
		if q.fact == f {
			return q
		}
	}
	return nil
}

// ready reports whether the arguments of a fact need no other slow fact that was not gathered.
func (ev *evaluation) ready(f *Fact) bool {
	yes := !slices.ContainsFunc(f.plan.handed, func(a argument) bool { return a.text != nil })
	for _, seg := range f.segments() {
		readBy(seg.placeholder, map[*symbol]bool{}, func(s *symbol) { yes = yes && (s.fact == nil || !s.fact.slow() || ev.seen(s.fact)) })
	}
	return yes
}

// ahead gathers at the same time what the first of these rules needs for sure, and what those do that are tried after it
// whatever it decides. It returns how many rules that are.
func (ev *evaluation) ahead(rules []*Rule) (n int) {
	var facts []*Fact
	asks := false // a rule that may end the trying with a request for approval
	for _, r := range rules {
		if n++; r.when != nil && r.Unless == nil && !r.late && !(n > 1 && r.judged()) {
			for _, f := range r.when.first().uses.slow {
				// What needs approval is not gathered either if the earlier rule lacks it.
				if !asks || f.Source.Trust != "" {
					facts = append(facts, f)
				}
			}
		}
		asks = asks || r.decides() && r.reads(func(f *Fact) bool { return f.Source.Trust != "" })
		if r.stops() || r.Verb == verbContinue && ev.program.Gate == gateFirst {
			break
		}
	}
	ev.together(facts)
	return n
}

// wouldWait reports whether rendering the texts of a rule may gather a slow fact.
func (ev *evaluation) wouldWait(r *says) (yes bool) {
	seen := map[*symbol]bool{}
	read := func(c *cond) {
		readBy(c, seen, func(s *symbol) { yes = yes || s.fact != nil && s.fact.slow() && !ev.seen(s.fact) })
	}
	for _, t := range r.all() {
		if t == nil || !slices.ContainsFunc(ev.program.facts, (*Fact).slow) {
			continue
		}
		for _, part := range ev.program.compiled(t) {
			for _, when := range part.when {
				read(when)
			}
			for _, seg := range part.segs {
				read(seg.placeholder)
			}
		}
	}
	return yes
}

// lateNote is a note that is tried after the other rules.
type lateNote struct {
	rule *Rule
	at   int // how many rules of the verdict come before it
}

// tryNotes tries the notes that read slow facts, once it is known whether the agent may stop: if it continues, only those
// for which everything was read. They do not affect what was decided.
func (ev *evaluation) tryNotes(late []lateNote) {
	if len(late) == 0 {
		return
	}
	if ev.verdict.Action == Continue {
		late = slices.DeleteFunc(late, func(l lateNote) bool {
			return l.rule.reads(func(f *Fact) bool { return f.slow() && !ev.seen(f) })
		})
	}
	doubt := ev.met.doubt
	ev.gathering.noting = true
	var facts []*Fact
	for _, l := range late {
		if l.rule.Unless == nil {
			facts = append(facts, l.rule.when.first().uses.slow...)
		}
	}
	ev.together(facts)
	before := len(ev.parts)
	for _, l := range late {
		if ev.try(l.rule) == Holds {
			ev.parts = slices.Insert(ev.parts, l.at+len(ev.parts)-before, l.rule)
		}
	}
	ev.gathering.noting, ev.met.doubt = false, doubt
}
