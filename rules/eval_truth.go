package rules

import "fmt"

// truth is a value of three-valued logic, in which unknown and error differ: a missing fact is ordinary, an error is
// reported to the user.
type truth uint8

const (
	known   truth = iota // there is a value
	unknown              // a fact it reads is missing or invalid, or a field unusable
	broken               // an expression failed
)

// lack is why something is unknown; of several reasons the gravest.
type lack uint8

const (
	ordinary lack = iota // there is nothing to read
	hollow               // it is known, and a checklist in it has no box
	unusable             // something exists or was tried, and cannot be used
	withheld             // a person has not approved it
)

// lackOf returns why the value of a fact is unknown.
func lackOf(v *Value) lack {
	switch {
	case v.Status == Withheld:
		return withheld
	case v.Status == Invalid || !v.Quiet:
		return unusable
	}
	return ordinary
}

// truth evaluates a condition. by is the operand that determined the result. The reason for an unknown result is in
// ev.why.
func (ev *evaluation) truth(c *cond) (holds bool, state truth, by *operand) {
	switch c.op {
	case leaf:
		v, state := ev.operand(c.operand)
		if state != known {
			return false, state, c.operand
		}
		b, ok := v.(bool)
		if !ok {
			ev.last.why = public(fmt.Sprintf("%s: %s must be true or false; got %s", c.operand.src.pos(), c.operand.src.text, kindOf(v)))
			return false, broken, c.operand
		}
		return b, known, c.operand
	case not, untrue:
		holds, state, by := ev.truth(c.kids[0])
		state = c.yet(state, ev.last.lack)
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
	// and stops at the first false, or at the first true; unknown ones are kept, since a later operand may still
	// decide.
	worst, why, of := known, sentence{}, ordinary
	for _, k := range c.kids {
		holds, state, by := ev.truth(k)
		if state == known {
			if holds == (c.op == or) {
				return holds, known, by
			}
			continue
		}
		of = max(of, ev.last.lack)
		if state > worst {
			worst, why = state, ev.last.why
		}
	}
	if worst != known {
		ev.last.why, ev.last.lack = why, of
		return false, worst, c.last()
	}
	return c.op == and, known, c.last()
}

// yet returns the state of the opposite of a part: what is only missing is not true yet, for untrue.
func (c *cond) yet(of truth, because lack) truth {
	if c.op == untrue && of == unknown && because < unusable {
		return known
	}
	return of
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
	ev.last.mark = nil
	return holds, state
}

// need returns the slot of a symbol, with its value or the reason for having none. It is valid until the next need.
func (ev *evaluation) need(s *symbol) *slot {
	if s.slot < len(ev.slots) && ev.slots[s.slot].seen {
		return &ev.slots[s.slot]
	}
	return ev.fetch(s)
}

// fetch gets the value of a symbol when first needed.
func (ev *evaluation) fetch(s *symbol) *slot {
	for s.slot >= len(ev.slots) { // a text compiled in the meantime added symbols
		ev.slots = append(ev.slots, slot{})
	}
	var v any
	var state truth
	var mark *mask
	outer := ev.met.gap
	ev.met.gap = nil
	switch at := &ev.slots[s.slot]; {
	case at.busy: // possible only for a cycle that Load missed
		state, ev.last.why = broken, public(s.name+" depends on itself")
	case ev.settled && ev.unread(s):
		state, ev.last.why, ev.last.lack = unknown, public(s.name+" was not read for the decision"), ordinary
	default:
		at.busy = true
		v, mark, state = ev.find(s)
	}
	at := &ev.slots[s.slot] // the slots may have moved
	at.mark = mark
	ev.settleSlot(at, v, state)
	ev.met.gap = outer
	ev.met.read = ev.met.read || mark != nil
	return at
}

// settleSlot puts a value into its slot, or the reason for having none.
func (ev *evaluation) settleSlot(at *slot, v any, state truth) {
	at.seen, at.busy, at.state = true, false, state
	if state == known {
		at.value = v
		at.gap = ev.met.gap
		return
	}
	why := ev.last.why
	at.why, at.lack = &why, ev.last.lack
	if state == broken {
		at.lack = max(at.lack, unusable)
	}
}

// find gets the value of a symbol from its origin.
func (ev *evaluation) find(s *symbol) (v any, mark *mask, state truth) {
	switch s.kind {
	case constSymbol:
		v, mark = s.value, secret(s.private)
	case memorySymbol:
		v, mark = ev.recall(s)
	case factSymbol:
		v, state = ev.gather(s.fact)
		mark = ev.got(s.fact).mark
	case letSymbol:
		v, state = ev.value(s.let.root)
		mark = ev.last.mark
		if s.private {
			mark = hidden()
		}
	case nameSymbol:
		v, state = ev.name(s)
		mark = ev.trace.hides(s.info.mark)
	case askSymbol:
		if of := ev.need(s.fact.plan.sym); of.state != known && of.lack == withheld {
			ev.last.why, ev.last.lack = *of.why, withheld
			return nil, nil, unknown
		}
		v, mark = ev.asked(s)
	}
	return v, mark, state
}
