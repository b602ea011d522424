package rules

import (
	"slices"
	"strconv"
)

// traced returns the trace step of an operand: its value and what it read.
func (ev *evaluation) traced(o *operand, v any, state truth) OperandStep {
	t := OperandStep{Text: o.src.shown}
	if state == known {
		if is, ok := v.(bool); ok && o.src.negated {
			v = !is
		}
		t.Value = ev.trace.shown(v, ev.last.mark)
	} else {
		t.Unknown, t.Problem = true, ev.last.why.shown
	}
	ev.traceReads(o, &t)
	return t
}

// traceReads records what an operand read.
func (ev *evaluation) traceReads(o *operand, t *OperandStep) {
	for i := range o.uses.reads {
		a := &o.uses.reads[i]
		if a.name == "" {
			continue
		}
		v := ev.got(a.fact.fact)
		r := Read{Name: a.name}
		if v.Status != OK {
			r.State = string(v.Status)
		} else if v.unusable(o, a) != nil {
			r.State = "unusable"
		} else {
			found, mark, _ := at(v.V, v.mark, a.path)
			r.Value = ev.trace.shown(found, mark)
		}
		t.Reads = append(t.Reads, r)
	}
	for _, s := range o.uses.syms {
		if s.kind == factSymbol && slices.ContainsFunc(o.uses.reads, func(a access) bool { return a.fact == s && a.name != "" }) ||
			s.kind == nameSymbol && s.info.called() {
			continue
		}
		r := Read{Name: s.name}
		switch state := ev.slots[s.slot].state; state {
		case known:
			r.Value = ev.trace.shown(ev.slots[s.slot].value, ev.slots[s.slot].mark)
		case unknown:
			r.State = "unknown"
		case broken:
			r.State = "error"
		}
		t.Reads = append(t.Reads, r)
	}
	if t.Unknown {
		return
	}
	// What only the trace shows has its own budget: it must not change the verdict.
	meter := ev.meter
	ev.meter, ev.meter.answers = ev.trace.scratch, meter.answers
	defer func() { ev.meter, ev.trace.scratch = meter, ev.meter }()
	for i := range o.sides {
		side := &o.sides[i]
		prog, err := ev.program.code(&side.code)
		if err != nil {
			continue
		}
		for _, s := range o.uses.syms {
			ev.names[s.key] = ev.slots[s.slot].value
		}
		if v, err := run(&ev.vm, prog, ev.names); err == nil {
			t.Reads = append(t.Reads, Read{Name: side.text, Value: ev.trace.shown(v, ev.markOf(o, v))})
		}
	}
}

// at follows a static path as far as it exists. mark is the mask of v, of that of found.
func at(v any, mark *mask, path []string) (found any, of *mask, walked []string) {
	for n, step := range path {
		switch t := v.(type) {
		case map[string]any:
			v, mark = t[step], mark.field(step)
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(t) {
				return v, mark, path[:n]
			}
			v = t[i]
		default:
			return v, mark, path[:n]
		}
	}
	return v, mark, path
}
