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
		v := ev.gotten[a.fact.fact.index].V
		walked := make([]any, 0, len(a.path))
		for _, step := range a.path {
			switch t := v.(type) {
			case map[string]any:
				v = t[step]
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
		ev.noteInput(inputName(a.fact.name, walked), v, a.fact.private)
	}
	for _, s := range o.syms {
		switch v := ev.slots[s.slot].value; {
		case s.kind == factSymbol && !slices.ContainsFunc(o.reads, func(a access) bool { return a.fact == s }):
			ev.noteInput(inputName(s.name, nil), v, s.private)
		case s.kind == nameSymbol && s.info.goType == nil && !s.info.askRow:
			ev.noteInput(s.name, v, s.private)
		case s.kind == askSymbol && s.ask == "age":
			ev.noteInput("age("+s.fact.Name+")", v, false)
		}
	}
}

func (ev *evaluation) noteInput(name string, v any, private bool) {
	all := ev.verdict.Trace.Inputs
	i := slices.IndexFunc(all, func(in Input) bool { return in.Name == name })
	if i >= 0 && (ev.telling || !all[i].Reported) {
		return
	}
	in := Input{Name: name, Reported: ev.telling}
	// What only texts read is for the agent or the user, and no business of a log.
	if (private || ev.telling) && ev.opts.Trace != TraceClear {
		in.Cut = true
	} else {
		in.Value, in.Cut = held(v)
	}
	if i >= 0 {
		all[i] = in
		return
	}
	ev.verdict.Trace.Inputs = append(all, in)
}

// held gives a value as it is kept, or says that it is too long to be.
func held(v any) (kept any, cut bool) {
	switch v := v.(type) {
	case nil, bool, int, float64:
		return v, false
	case time.Duration:
		return v.String(), false
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
