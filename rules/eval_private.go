package rules

// veils reports whether an operand reads anything private. What it names is known, or
// known to be unknown.
func (ev *evaluation) veils(o *operand) bool {
	for _, all := range [...][]flow{o.flows.value, o.flows.seen, o.flows.asked} {
		for _, f := range all {
			if f.sym.slot < len(ev.slots) && ev.slots[f.sym.slot].mark.at(f.path) != nil {
				return true
			}
		}
	}
	return false
}

// markOf is the secrecy of what flows together.
func (ev *evaluation) markOf(all []flow) *secrecy {
	var mark *secrecy
	for _, f := range all {
		m := ev.slots[f.sym.slot].mark.at(f.path)
		switch {
		case m == nil:
		case f.made || mark != nil && mark != m:
			return hidden()
		default:
			mark = m
		}
	}
	return mark
}

// looksInto reports whether an operand reads private parts of a symbol.
func (ev *evaluation) looksInto(o *operand, s *symbol) bool {
	mark := ev.slots[s.slot].mark
	for _, all := range [...][]flow{o.flows.value, o.flows.seen} {
		for _, f := range all {
			if f.sym == s && mark.at(f.path) != nil {
				return true
			}
		}
	}
	return false
}

// clear reports whether traces show private values too.
func (ev *evaluation) clear() bool { return ev.opts.Trace == TraceClear }

// show gives what the trace shows of a remark.
func (ev *evaluation) show(r remark) string {
	if ev.clear() {
		return r.full
	}
	return r.shown
}
