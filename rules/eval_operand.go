package rules

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/vm"
)

// operand gathers what an operand names and evaluates it.
func (ev *evaluation) operand(o *operand) (any, truth) {
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
		if why := ev.unusable(o, &o.reads[i]); why != "" {
			ev.why = why
			return nil, broken
		}
	}
	if ev.opts.Traced {
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
	}
	ev.why = fmt.Sprintf("%s: %s: %s", o.snippet.pos(err.from), o.text, runMessage(err.message))
	return nil, broken
}

// whyOf gives the reason of the first symbol of o that stands as badly as this.
func (ev *evaluation) whyOf(o *operand, state truth) string {
	for _, s := range o.syms {
		if at := &ev.slots[s.slot]; at.state == state {
			return at.why
		}
	}
	return ""
}

// memoryBudget bounds what one evaluation may allocate, in elements. It does not
// see the growth of texts; those are bounded by the size of inputs and source.
const memoryBudget = 200_000

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
	s = strings.TrimPrefix(s, "invalid operation: ")
	for _, f := range [...]string{"int", "float"} {
		if v, ok := strings.CutPrefix(s, f+"("); ok {
			return f + "(…) cannot read " + quote(cut(strings.TrimSuffix(v, ")"), 60))
		}
	}
	return plainTypes(s)
}

// maxTicks bounds the work of loops in one evaluation, far above what people
// write: loops within loops over large lists would run for hours. A tick is a step
// of a loop, or a KiB of text that it makes.
const maxTicks = 1_000_000

// count is called at every step of a loop that could take long. Its panic is
// turned into an error by expr's machine.
func (ev *evaluation) count(ticks int) bool {
	ev.ticks += ticks
	if ev.ticks > maxTicks {
		panic(errTooManySteps)
	}
	if err := ev.ctx.Err(); err != nil {
		panic(err)
	}
	return true
}
