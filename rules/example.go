package rules

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// confirmed returns the situation that the search found as a line of a test, "" if the evaluator of decisions does not confirm it. A
// schema may require fields that were not needed: the second try gives all of them.
func (m *model) confirmed(is func(in Input) bool) string {
	for _, all := range []bool{false, true} {
		if given := m.given(all); is(m.input(given)) {
			var n yaml.Node
			_ = n.Encode(given) // of JSON values
			n.Style = yaml.FlowStyle
			b, _ := yaml.Marshal(&n)
			return "given: " + strings.TrimSpace(string(b))
		}
	}
	return ""
}

// given returns the situation as a test of a policy has it. With all, what is open has its first value.
func (m *model) given(all bool) any {
	var out any
	for _, v := range m.vars {
		r := v.now
		if r == nil && all {
			r = &v.values[0]
		}
		if r == nil || v.at == nil {
			continue
		}
		inFact := v.at[0] == "facts"
		_, ok := fieldAt(out, v.at[:2]) // the fact
		before, written := fieldAt(out, v.at)
		switch {
		case r.state == failed && v.invalid != nil:
			out = put(out, v.invalid, map[string]string{"invalid": "it cannot be read"}[v.invalid[0]])
		case inFact && v.typ == nil: // a status
			out = put(out, v.at, r.value)
		case inFact && !ok, r.state == missing, !inFact && (r.state == failed || slices.Contains([]any{nil, 0, false}, r.value)): // nothing shows it
		case r.state == failed: // a value of another kind
			out = put(out, v.at, map[bool]any{true: 7, false: "?"}[v.typ.Kind == "string"])
		case written && !inFact: // what is said
			out = put(out, v.at, show(before)+"\n"+show(r.value))
		default:
			out = put(out, v.at, r.value)
		}
	}
	return out
}

// input is what an evaluation gets of what is given.
func (m *model) input(given any) Input {
	var g struct {
		Facts      map[string]json.RawMessage
		Event, Env map[string]any
		Memory     struct {
			Memory
			Total   int
			Applied map[string]int `json:"applied"`
		}
	}
	b, _ := json.Marshal(given) // of JSON values
	_ = json.Unmarshal(b, &g)
	in := Input{World: m, Now: time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC), Values: merged(nil, g.Event), Total: g.Memory.Total}
	in.Memory = g.Memory.Memory
	in.Memory.Prompt, in.Memory.Applied = g.Memory.Applied, map[string][]time.Time{}
	for name, v := range g.Facts {
		in.Values[name] = v
	}
	for name, v := range g.Env {
		in.Values["env."+name] = v
	}
	for name, n := range g.Memory.Applied {
		in.Memory.Applied[name] = slices.Repeat([]time.Time{in.Now}, n)
	}
	return in
}

// Fact returns a fact that the situation gives no value: it is missing or invalid.
func (m *model) Fact(_ context.Context, q Query) Found {
	if v := m.status(q.Fact); v.now != nil && v.now.state == failed && v.invalid != nil {
		return Found{Err: errOpen}
	}
	return Found{}
}

// Name returns no value: those that the situation gives are in the input.
func (m *model) Name(context.Context, string) (any, error) { return nil, nil }

// Ask returns what the situation gives. No program is found.
func (m *model) Ask(_ context.Context, function, argument string) (any, error) {
	if function == "which" {
		return nil, nil
	}
	v := variable{key: function + " " + argument, at: []string{"event", "last_assistant_message"}, values: []result{known(nil), known(argument)}}
	if function == "exists" {
		v.at = []string{"files", strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(argument)}
		v.values[1].value = ""
	}
	r := m.now(m.variable(v))
	return r.value != nil, r.why
}
