package rules

import (
	"math"
	"strings"

	"github.com/expr-lang/expr/vm"
)

// operand gathers what an operand names and evaluates it.
func (ev *evaluation) operand(o *operand) (any, truth) {
	outer := ev.at
	ev.at = o // stays where a spent budget ends the evaluation
	ev.meter.charge(1, 0)
	v, state := ev.evaluate(o)
	ev.at, ev.mark = outer, nil
	if ev.read && ev.veils(o) {
		ev.mark = ev.markOf(o.flows.value)
	}
	return v, state
}

func (ev *evaluation) evaluate(o *operand) (any, truth) {
	if ev.step != nil {
		return ev.traced(o)
	}
	state := known
	for _, s := range o.syms {
		state = max(state, ev.need(s))
	}
	if state != known {
		ev.why = ev.whyOf(o, state)
		return nil, state
	}
	for i := range o.reads {
		a := &o.reads[i]
		if g := &ev.gotten[a.fact.fact.index]; len(g.Unusable)+len(g.clamped) == 0 {
			continue
		}
		if why := ev.unusable(o, a); why.full != "" {
			ev.why = why
			return nil, broken
		}
		ev.reportClamped(o, a)
	}
	if ev.full() {
		ev.noteInputs(o)
	}
	if o.direct != nil {
		if v, ok := o.direct.evaluate(ev); ok {
			return v, known
		}
	}
	prog, err := ev.program.code(o)
	if err == nil {
		for _, s := range o.syms {
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
	ev.why = remarkf("%s: %s: %s", o.snippet.pos(err.from), o.text, veiled(runMessage(err.message), ev.veils(o)))
	return nil, broken
}

// whyOf gives the reason of the first symbol of o that stands as badly as this.
func (ev *evaluation) whyOf(o *operand, state truth) remark {
	for _, s := range o.syms {
		if at := &ev.slots[s.slot]; at.state == state {
			return at.why
		}
	}
	return remark{}
}

// memoryBudget is expr's own bound. The meter pays for everything that it counts.
const memoryBudget = math.MaxInt

// run evaluates a compiled leaf over names. machine is reused between calls.
func run(machine *vm.VM, p *vm.Program, names map[string]any) (any, *exprError) {
	machine.MemoryBudget = memoryBudget
	v, err := machine.Run(p, names)
	if err != nil {
		return nil, toExprError(err, 0)
	}
	return v, nil
}

// runMessage makes a clause of what expr's machine says.
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
