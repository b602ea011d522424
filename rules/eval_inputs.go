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
		a := &o.reads[i]
		g := &ev.gotten[a.fact.fact.index]
		v, mark := g.V, g.mark
		walked := make([]any, 0, len(a.path))
		for _, step := range a.path {
			switch t := v.(type) {
			case map[string]any:
				v, mark = t[step], mark.field(step)
				walked = append(walked, step)
				continue
			case []any:
				if i, err := strconv.Atoi(step); err == nil && i < len(t) {
					v = t[i]
					walked = append(walked, i)
					continue
				}
			}
			break
		}
		name, looks := inputName(a.fact.name, walked), ev.looksInto(o, a.fact)
		switch private := mark != nil && mark.shows == nil && !looks && !ev.clear(); {
		case private && a.name == "": // the let says by itself how it reads it
		case private && sumsUp(o, a) && ev.noteDigest(name, v):
		default:
			ev.noteInput(name, v, mark, looks)
		}
	}
	for _, s := range o.syms {
		switch v := ev.slots[s.slot].value; {
		case s.kind == factSymbol && !slices.ContainsFunc(o.reads, func(a access) bool { return a.fact == s }):
			ev.noteInput(inputName(s.name, nil), v, ev.slots[s.slot].mark, ev.looksInto(o, s))
		case s.kind == nameSymbol && !s.info.called() && !s.info.askRow:
			ev.noteInput(s.name, v, ev.slots[s.slot].mark, ev.looksInto(o, s))
		case s.kind == memorySymbol:
			ev.noteInput("memory."+s.name, v, ev.slots[s.slot].mark, ev.looksInto(o, s))
		case s.kind == askSymbol && s.ask == "age":
			ev.noteInput("age("+s.fact.Name+")", v, nil, false)
		}
	}
}

// noteInput notes a value that was read. looked says that its private parts were; of a
// value that is private in part the others are kept if they were not.
func (ev *evaluation) noteInput(name string, v any, mark *secrecy, looked bool) {
	all := ev.verdict.Trace.Inputs
	i := slices.IndexFunc(all, func(in Input) bool { return in.Name == name })
	if v == nil && mark != nil && mark.shows != nil { // it has no parts
		mark = nil
	}
	looked = looked && mark != nil && !ev.clear()
	if i >= 0 && (ev.telling || !all[i].Reported && !looked) {
		return
	}
	in := Input{Name: name, Reported: ev.telling}
	shown, ok := v, true
	if !ev.clear() {
		shown, ok = mark.stripped(v)
	}
	// What only texts read is for the agent or the user, and no business of a log.
	if !ok || looked || ev.telling && !ev.clear() {
		in.Cut = true
	} else {
		in.Value, in.Cut = held(shown)
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

// sumsUp reports whether an operand makes a digest of what it reads.
func sumsUp(o *operand, a *access) bool {
	return slices.ContainsFunc(o.flows.sums, func(f flow) bool { return f.sym == a.fact && slices.Equal(f.path, a.path) })
}

// noteDigest notes the digest of a private text of which no more was read.
func (ev *evaluation) noteDigest(name string, v any) bool {
	t := &ev.verdict.Trace
	d, ok := digestOf(v)
	if !ok || len(t.Calls) >= maxCalls {
		return false
	}
	if t.Calls == nil {
		t.Calls = map[string]any{}
	}
	t.Calls["digest("+name+")"] = d
	return true
}

// noted is one of ralph's functions that notes what it answers, which a replay needs.
func (ev *evaluation) noted(name string, v any) any {
	switch ask := v.(type) {
	case func(string) bool:
		return func(text string) bool {
			answer := ask(text)
			ev.noteCall(name, text, answer)
			return answer
		}
	case func(string) string:
		return func(text string) string {
			answer := ask(text)
			ev.noteCall(name, text, answer)
			return answer
		}
	}
	return v
}

// noteCall notes an answer, unless the question or the answer is made of something private.
func (ev *evaluation) noteCall(name, text string, answer any) {
	t := &ev.verdict.Trace
	if len(text) > maxCall || len(t.Calls) >= maxCalls || ev.at == nil || !ev.clear() && ev.markOf(ev.at.flows.asked) != nil {
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
