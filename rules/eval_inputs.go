package rules

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxInputText is how long a text is kept as an input, in runes, and maxInputJSON
// how long a list or object, in bytes.
const (
	maxInputText = 120
	maxInputJSON = 400
)

// noteInputs notes what an operand reads. Its facts are there and usable.
func (ev *evaluation) noteInputs(o *operand) {
	for i := range o.reads {
		if a := &o.reads[i]; a.name != "" { // else the let says by itself what it reads
			g := &ev.gotten[a.fact.fact.index]
			v, mark, walked := at(g.V, g.mark, a.path)
			ev.noteInput(inputName(a.fact.name, walked), v, mark, o.looksInto(a.fact, ev.slots[a.fact.slot].mark))
		}
	}
	for _, s := range o.syms {
		name := s.name
		switch {
		case s.kind == factSymbol && !slices.ContainsFunc(o.reads, func(a access) bool { return a.fact == s }):
			name = inputName(name, nil)
		case s.kind == nameSymbol && !s.info.called() && !s.info.Memory:
		case s.kind == memorySymbol:
			name = "memory." + name
		case s.kind == askSymbol && s.ask == "age":
			name = "age(" + s.fact.Name + ")"
		default:
			continue
		}
		ev.noteInput(name, ev.slots[s.slot].value, ev.slots[s.slot].mark, o.looksInto(s, ev.slots[s.slot].mark))
	}
}

// noteInput notes a value that was read. looked says that its private parts were; of a
// value that is private in part the others are kept if they were not.
func (ev *evaluation) noteInput(name string, v any, mark *mask, looked bool) {
	all := ev.verdict.Trace.Inputs
	i := slices.IndexFunc(all, func(in Input) bool { return in.Name == name })
	if v == nil && mark != nil && mark.shows != nil { // it has no parts
		mark = nil
	}
	looked = looked && mark != nil && !ev.clear()
	if i >= 0 && (ev.rendering || !all[i].Reported && !looked) {
		return
	}
	in := Input{Name: name, Reported: ev.rendering}
	// What only texts read is for the agent or the user, and no business of a log.
	switch {
	case ev.clear():
		in.Value, in.Cut = held(v)
	case looked, ev.rendering, mark != nil && mark.shows == nil:
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

// maxCalls bounds how many answers of functions are noted, and maxCall how long a
// question may be: a policy may ask about every word of a list.
const (
	maxCalls = 64
	maxCall  = 200
)

// noted is one of ralph's functions that notes what it answers, which a replay needs.
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

// noteCall notes an answer, unless the question or the answer is made of something private.
func (ev *evaluation) noteCall(name, text string, answer any) {
	t := &ev.verdict.Trace
	if len(text) > maxCall || len(t.Calls) >= maxCalls || ev.at == 0 || !ev.clear() && ev.hides(ev.program.operand(ev.at)) {
		return
	}
	if t.Calls == nil {
		t.Calls = map[string]any{}
	}
	t.Calls[name+"("+strconv.Quote(text)+")"] = answer
}

// held gives a value as it is kept, or says that it is too long to be.
func held(v any) (kept any, cut bool) {
	switch v := v.(type) {
	case nil, bool, int, float64:
		return v, false
	case time.Duration:
		return v.String(), false
	case time.Time:
		return v.Format(time.RFC3339Nano), false
	case string:
		if utf8.RuneCountInString(v) > maxInputText {
			return nil, true
		}
		return v, false
	}
	if _, left := beginning(v, maxInputJSON); left < 0 {
		return nil, true
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > maxInputJSON {
		return nil, true
	}
	return json.RawMessage(b), false
}
