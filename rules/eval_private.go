package rules

import "slices"

// hides reports whether an expression reads anything private. What it names is known, or
// known to be unknown.
func (ev *evaluation) hides(r *readings) bool {
	return slices.ContainsFunc(r.paths, func(p reading) bool {
		return p.sym.slot < len(ev.slots) && p.of(ev.slots[p.sym.slot].mark) != nil
	})
}

// markOf returns the secrecy of the value of an expression. A truth value gives nothing away.
func (ev *evaluation) markOf(r *readings, v any) *secrecy {
	if _, answer := v.(bool); answer || r.count || !ev.hides(r) {
		return nil
	}
	if r.plain {
		return r.paths[0].of(ev.slots[r.paths[0].sym.slot].mark)
	}
	return hidden()
}

// looksInto reports whether an operand reads private parts of a symbol.
func (ev *evaluation) looksInto(o *operand, s *symbol) bool {
	return slices.ContainsFunc(o.private.paths, func(p reading) bool { return p.sym == s && p.of(ev.slots[s.slot].mark) != nil })
}

// clear reports whether traces show private values too.
func (ev *evaluation) clear() bool { return ev.opts.Trace == TraceClear }

// show returns what the trace shows of a remark.
func (ev *evaluation) show(r remark) string {
	if ev.clear() {
		return r.full
	}
	return r.shown
}
