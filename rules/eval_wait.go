package rules

import (
	"context"
	"maps"
	"time"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// awaited returns the outcome of a rule that waits: once it has waited as long as it may, it is skipped. A wait whose rule does
// not hold ends.
func (ev *evaluation) awaited(r *Rule, o Outcome, because string) (Outcome, string) {
	m := &ev.verdict.Memory
	from, waits := m.Waits[r.Name]
	switch {
	case !waits:
	case o == No:
		m.Waits = maps.Clone(m.Waits)
		delete(m.Waits, r.Name)
		ev.verdict.Changed = true
	case o == Holds && since(from, ev.event.now) >= r.Await.For:
		ev.hasWaited()
		return SteppedOver, "it waited " + amount.Time(r.Await.For)
	}
	return o, because
}

// hasWaited makes waited true for the rules below, also where a rule above has read it.
func (ev *evaluation) hasWaited() {
	ev.met.waited = true
	is := func(s *symbol) bool { return s.kind == nameSymbol && s.name == vocab.Waited }
	for _, s := range ev.program.machine.table.all() {
		if s.slot < len(ev.slots) && (is(s) || s.kind == letSymbol && reads(s.let.root, is)) {
			ev.slots[s.slot] = slot{}
		}
	}
}

// waiting returns how the verdict of a rule waits.
func (ev *evaluation) waiting(r *Rule) *Waiting {
	w := &Waiting{Since: ev.event.now, Every: r.Await.Every}
	if from := ev.verdict.Memory.Waits[r.Name]; !from.IsZero() {
		w.Since = from
	}
	if !w.Since.IsZero() {
		w.Until = w.Since.Add(r.Await.For)
	}
	return w
}

// waits keeps since when a rule waits, in a new map because verdicts share the old one.
func (m *Memory) waits(rule string, since time.Time) {
	m.Waits = maps.Clone(m.Waits)
	if m.Waits == nil {
		m.Waits = map[string]time.Time{}
	}
	m.Waits[rule] = since
}

// Awaits evaluates the until of a rule with wait, and nothing else: it returns whether the rule still waits. It does not once
// until is true, cannot be evaluated, or the rule is unknown: then decide again with Eval. Awaits changes nothing, and
// gathers only the facts of until.
func (p *Program) Awaits(ctx context.Context, f Facts, o Options, rule string) (waits bool) {
	p.eval(ctx, f, &o, func(ev *evaluation) {
		ev.looking = true
		if !ev.complete() {
			return
		}
		for _, r := range ev.program.rules {
			if r.Name == rule && r.Await != nil {
				yet, state, _ := ev.truth((*cond)(nil).unless(r.until))
				waits = yet && state == known
			}
		}
	})
	return waits
}
