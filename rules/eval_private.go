package rules

import "slices"

// hides reports whether an operand reads anything private. The state of everything that it names is known.
func (ev *evaluation) hides(o *operand) bool {
	return slices.ContainsFunc(o.uses.syms, func(s *symbol) bool { return s.slot < len(ev.slots) && o.uses.looksInto(s, ev.slots[s.slot].mark) })
}

// markOf returns the mask of an operand's value. A boolean reveals nothing.
func (ev *evaluation) markOf(o *operand, v any) *mask {
	_, answer := v.(bool)
	return secret(!answer && ev.hides(o))
}
