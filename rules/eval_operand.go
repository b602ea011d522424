package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/schema"
)

// operand gathers what an operand names and evaluates it.
func (ev *evaluation) operand(o *operand) (v any, state truth) {
	outer := ev.here.at
	ev.here.at = o.id // stays set when a spent budget ends the evaluation
	ev.meter.charge(1)
	if o.branch {
		ev.ran = append(ev.ran, o)
	}
	if len(o.uses.slow) > 1 {
		ev.together(o.uses.slow)
	}
	private := false
	var gap *gap // the gravest of what it names
	for _, s := range o.uses.syms {
		at := ev.need(s)
		state = max(state, at.state)
		private = private || at.mark != nil
		if at.gap != nil && (gap == nil || at.gap.lack > gap.lack) {
			gap = at.gap
		}
	}
	ev.reach(o, state)
	switch {
	case state == known && gap != nil && gap.lack == unusable && ev.here.trying && ev.here.rule.stops():
		state, ev.last.why, ev.last.lack = unknown, gap.why, unusable // what is left out might make the rule true
	case state == known:
		if gap = cmp.Or(gap, ev.noSection(o)); gap != nil {
			ev.met.gap = gap
		}
		if ev.here.goesOut && len(o.explains) > 0 {
			ev.explained = append(ev.explained, o.explains...)
		}
		v, state = ev.evaluate(o)
	default:
		ev.blame(o, state)
		if ev.last.lack == withheld {
			ev.met.unapproved = ev.last.why
		}
	}
	ev.here.at = outer
	ev.noteOperand(o, v, state, private)
	return v, state
}

// noteOperand keeps whether the value of an operand is private, and adds it to the trace. private says that it reads
// something private.
func (ev *evaluation) noteOperand(o *operand, v any, state truth, private bool) {
	var mark *mask
	if private {
		mark = ev.markOf(o, v)
	}
	if mark != ev.last.mark { // assigning a pointer costs more
		ev.last.mark = mark
	}
	if ev.trace.step != nil && ev.here.at == 0 && ev.here.in == nil { // lets and texts evaluated inside it are shown as values
		ev.trace.step.Operands = append(ev.trace.step.Operands, ev.traced(o, v, state))
	}
}

// reach converts and checks what an operand reads of Go values. A full trace shows it even if another value is unknown.
func (ev *evaluation) reach(o *operand, state truth) {
	if !ev.met.given || state != known && !ev.trace.full() {
		return
	}
	for i := range o.uses.reads {
		a := &o.uses.reads[i]
		g := ev.got(a.fact.fact)
		if g.read == nil || a.skipped(ev.ran) {
			continue
		}
		before := len(g.read.warnings)
		need := a.needs
		if need > someFields && ev.trace.full() { // which shows the list
			need = everything
		}
		g.read.reach(ev.meter.ctx, a.path, need, o.uses.props)
		g.Unusable, g.Warnings = g.read.unusable, g.read.warnings
		for _, w := range g.Warnings[before:] {
			ev.warn(g.violation(a.fact.fact, w))
		}
		ev.met.flawed = ev.met.flawed || len(g.Unusable)+len(g.Warnings) > 0
		if ev.meter.ctx.Err() != nil {
			ev.meter.look = 0
			ev.meter.charge(1) // ends the evaluation: the rest was not read
		}
	}
}

// skipped reports whether the access is through a let that was decided without it.
func (a *access) skipped(ran []*operand) bool {
	return slices.ContainsFunc(a.via, func(o *operand) bool { return !slices.Contains(ran, o) })
}

// evaluate returns the value of an operand, once everything that it names is known.
func (ev *evaluation) evaluate(o *operand) (any, truth) {
	if ev.met.flawed {
		if v, state, found := ev.flaw(o); found {
			return v, state
		}
	}
	if ev.trace.full() {
		ev.noteInputs(o)
	}
	if o.direct != nil {
		if v, ok := o.direct.evaluate(ev); ok {
			return v, known
		}
	}
	return ev.compute(o)
}

// flaw reports what an operand reads and rules cannot use, or not as it is written. found says that v and state are the
// operand's.
func (ev *evaluation) flaw(o *operand) (v any, state truth, found bool) {
	for i := range o.uses.reads {
		a := &o.uses.reads[i]
		g := ev.got(a.fact.fact)
		if a.skipped(ev.ran) {
			continue
		}
		if u := g.unusable(o, a); u != nil {
			why := g.violation(a.fact.fact, *u)
			ev.reportField(a.fact.fact, *u, why)
			if v, ok := ev.asWritten(o, u); ok {
				return v, known, true
			}
			ev.last.why, ev.last.lack = why, unusable
			return nil, unknown, true
		}
		for _, w := range g.Warnings {
			if a.spoilt(o.uses.props, schema.SplitPointer(w.Pointer)) {
				ev.reportField(a.fact.fact, w, g.violation(a.fact.fact, w))
			}
		}
	}
	return nil, known, false
}

// compute evaluates an operand with expr's machine.
func (ev *evaluation) compute(o *operand) (any, truth) {
	prog, err := ev.program.code(&o.code)
	if err == nil {
		for _, s := range o.uses.syms {
			ev.names[s.key] = ev.slots[s.slot].value
		}
		var v any
		if v, err = run(&ev.vm, prog, ev.names); err == nil {
			return v, known
		}
		if ev.meter.over != nil {
			panic(ev.meter.over)
		}
	}
	ev.last.lack = unusable
	if field := ev.absentField(o); field != "" {
		ev.last.why = public(field + " is missing")
		return nil, broken
	}
	ev.last.why = sentencef("%s: %s: %s", o.src.snippet.pos(err.from), o.src.text, masked(runMessage(err.message), ev.hides(o)))
	return nil, broken
}

// absentField returns a declared field that an operand reads and that is missing or null, or "". An undeclared field
// may be misspelt: that is an error.
func (ev *evaluation) absentField(o *operand) string {
	for i := range o.uses.reads {
		a := &o.uses.reads[i]
		found, _, _ := at(ev.got(a.fact.fact).V, nil, a.path)
		if found == nil && a.fact.typ.At(a.path...) != nil {
			return strings.Join(append([]string{a.fact.name}, a.path...), ".")
		}
	}
	return ""
}

// asWritten returns what a text shows of a field that rules cannot use: what is in the file.
func (ev *evaluation) asWritten(o *operand, u *schema.Violation) (v any, ok bool) {
	if !ev.here.rendering || o.plain == nil || !slices.Equal(o.plain.path, schema.SplitPointer(u.Pointer)) {
		return nil, false
	}
	return u.Value, u.Value != nil
}

// blame records the reason of the first symbol of o with this state.
func (ev *evaluation) blame(o *operand, state truth) {
	ev.last.why, ev.last.lack = sentence{}, ordinary
	found := false
	for _, s := range o.uses.syms {
		at := &ev.slots[s.slot]
		if at.state == state && !found {
			ev.last.why, found = *at.why, true
		}
		if at.state != known {
			ev.last.lack = max(ev.last.lack, at.lack)
		}
	}
}

// memoryBudget disables expr's own limit. The meter covers everything that it counts.
const memoryBudget = math.MaxInt

// run evaluates a compiled leaf with names. machine is reused between calls.
func run(machine *vm.VM, p *vm.Program, names map[string]any) (any, *exprError) {
	machine.MemoryBudget = memoryBudget
	v, err := machine.Run(p, names)
	if err != nil {
		return nil, toExprError(err, 0)
	}
	return v, nil
}

// runMessage returns a message of expr's machine as a clause.
func runMessage(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	s = cut(s, 400) // it may quote a whole file
	s = strings.TrimPrefix(s, "invalid operation: ")
	for _, f := range [...]string{"int", "float"} {
		if v, ok := strings.CutPrefix(s, f+"("); ok {
			return f + "(…) cannot read " + quote(cut(strings.TrimSuffix(v, ")"), 60))
		}
	}
	return plainTypes(s)
}
