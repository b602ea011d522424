package rules

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// noteInputs records what an operand reads. Its facts are present and usable.
func (ev *evaluation) noteInputs(o *operand) {
	for i := range o.uses.reads {
		if a := &o.uses.reads[i]; a.name != "" { // otherwise the let records what it reads
			g := ev.got(a.fact.fact)
			v, mark, walked := at(g.V, g.mark, a.path)
			ev.noteInput(inputName(a.fact.name, walked), v, mark, o.uses.looksInto(a.fact, ev.slots[a.fact.slot].mark))
		}
	}
	for _, s := range o.uses.syms {
		name := s.name
		switch {
		case s.kind == factSymbol && !slices.ContainsFunc(o.uses.reads, func(a access) bool { return a.fact == s }):
			name = inputName(name, nil)
		case s.kind == nameSymbol && !s.info.called() && !s.info.Memory:
		case s.kind == memorySymbol:
			name = "memory." + name
		case s.kind == askSymbol && s.ask == "age":
			name = "age(" + s.fact.Name + ")"
		default:
			continue
		}
		ev.noteInput(name, ev.slots[s.slot].value, ev.slots[s.slot].mark, o.uses.looksInto(s, ev.slots[s.slot].mark))
	}
}

// noteInput records a value that was read. looked says that its private parts were read; otherwise the other parts of a
// partly private value are kept.
func (ev *evaluation) noteInput(name string, v any, mark *mask, looked bool) {
	all := ev.verdict.Trace.Inputs
	i := slices.IndexFunc(all, func(in Input) bool { return in.Name == name })
	if v == nil && mark != nil && mark.shows != nil { // it has no parts
		mark = nil
	}
	looked = looked && mark != nil
	if i >= 0 && (ev.here.rendering || !all[i].Reported && !looked) {
		return
	}
	in := Input{Name: name, Reported: ev.here.rendering}
	// Values that only texts read do not decide, so they are not logged.
	switch {
	case v == "" && !ev.here.rendering: // its size, which is always shown, is all of it
		in.Value = v
	case looked, ev.here.rendering, mark != nil && mark.shows == nil:
		in.Cut = true
	default:
		in.Value, in.Cut = held(mark.without(v, func(any) any { return nil }))
	}
	if i >= 0 {
		all[i] = in
		return
	}
	ev.verdict.Trace.Inputs = append(all, in)
}

// maxCalls bounds how many results of functions are recorded, and maxCall the length of an argument: a policy may test
// every word of a list.
const (
	maxCalls = 64
	maxCall  = 200
)

// noted returns one of ralph's functions so that its results are recorded, which a replay needs.
func (ev *evaluation) noted(name string, v any) any {
	switch ask := v.(type) {
	case func(string) bool:
		return noting(ev, name, ask)
	case func(string) string:
		return noting(ev, name, ask)
	}
	return v
}

func noting[T any](ev *evaluation, name string, ask func(string) T) func(string) T {
	return func(text string) T {
		answer := ask(text)
		ev.noteCall(name, text, answer)
		return answer
	}
}

// noteCall records a result, unless the argument or the result is private.
func (ev *evaluation) noteCall(name, text string, answer any) {
	t := &ev.verdict.Trace
	if len(text) > maxCall || len(t.Calls) >= maxCalls || ev.here.at == 0 || ev.hides(ev.program.operand(ev.here.at)) {
		return
	}
	if t.Calls == nil {
		t.Calls = map[string]any{}
	}
	t.Calls[name+"("+strconv.Quote(text)+")"] = answer
}

// held returns a value as it is recorded, or reports that it is too long.
func held(v any) (kept any, cut bool) {
	switch v := v.(type) {
	case nil, bool, int, float64:
		return v, false
	case time.Duration:
		return v.String(), false
	case time.Time:
		return v.Format(time.RFC3339Nano), false
	case string:
		if len(v) > maxTraced {
			return nil, true
		}
		return v, false
	}
	if _, left := beginning(v, maxTraced); left < 0 {
		return nil, true
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > maxTraced {
		return nil, true
	}
	return json.RawMessage(b), false
}
