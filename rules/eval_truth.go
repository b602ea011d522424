package rules

import (
	"fmt"
	"strings"
)

// truth is a value of three-valued logic, with the reason for not knowing kept
// apart: a missing fact is ordinary, an error is told to the person.
type truth uint8

const (
	known   truth = iota // there is a value
	unknown              // a fact it reads is missing or invalid
	broken               // a field was unusable or an expression failed
)

// truth evaluates a condition. by is the operand that made it what it is. What is
// not known leaves its reason in ev.why.
func (ev *evaluation) truth(c *cond) (holds bool, state truth, by *operand) {
	switch c.op {
	case leaf:
		v, state := ev.operand(c.operand)
		if state != known {
			return false, state, c.operand
		}
		b, ok := v.(bool)
		if !ok {
			ev.why = fmt.Sprintf("%s: %s is neither true nor false but %s", c.operand.pos(), c.operand.text, kindOf(v))
			return false, broken, c.operand
		}
		return b, known, c.operand
	case not:
		holds, state, by := ev.truth(c.kids[0])
		return !holds && state == known, state, by
	case choose:
		first, state, by := ev.truth(c.kids[0])
		switch {
		case state != known:
			return false, state, by
		case first:
			return ev.truth(c.kids[1])
		}
		return ev.truth(c.kids[2])
	}
	// and stops at the first false, or at the first true; unknown ones are
	// remembered, since a later operand may still decide.
	worst, why := known, ""
	for _, k := range c.kids {
		holds, state, by := ev.truth(k)
		if state == known {
			if holds == (c.op == or) {
				return holds, known, by
			}
			continue
		}
		if state > worst {
			worst, why = state, ev.why
		}
	}
	if worst != known {
		ev.why = why
		return false, worst, c.last()
	}
	return c.op == and, known, c.last()
}

// value evaluates an expression of any type.
func (ev *evaluation) value(c *cond) (any, truth) {
	switch c.op {
	case leaf:
		return ev.operand(c.operand)
	case choose:
		first, state, _ := ev.truth(c.kids[0])
		switch {
		case state != known:
			return nil, state
		case first:
			return ev.value(c.kids[1])
		}
		return ev.value(c.kids[2])
	}
	holds, state, _ := ev.truth(c)
	return holds, state
}

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

// need makes sure that a symbol has its value in its slot. It tells whether there
// is one; the slot then says why not.
func (ev *evaluation) need(s *symbol) truth {
	for s.slot >= len(ev.slots) { // a text compiled meanwhile brought new names
		ev.slots = append(ev.slots, slot{})
	}
	at := &ev.slots[s.slot]
	if at.seen {
		return at.state
	}
	if at.busy { // only a cycle that Load missed could do this
		at.why = s.name + " needs itself"
		return broken
	}
	at.busy = true
	var v any
	var state truth
	switch s.kind {
	case constSymbol:
		v = s.value
	case factSymbol:
		v, state = ev.gather(s.fact)
	case letSymbol:
		v, state = ev.value(s.let.root)
	case nameSymbol:
		v = ev.name(s)
	case askSymbol:
		v = ev.asked(s)
	case tickSymbol:
		v = ev.tick
	}
	at = &ev.slots[s.slot] // the slots may have moved
	at.seen, at.busy, at.state, at.value = true, false, state, v
	if state != known {
		at.why, at.value = ev.why, nil
	}
	return state
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

// kindOf names the kind of a value for messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case int, float64:
		return "a number"
	case []any, []string, []int:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
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
