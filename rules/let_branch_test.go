package rules_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

// A field that is null or missing is an error where a function or operator cannot take it, and ordinary where it is compared
// with nil.
func TestAbsentFields(t *testing.T) {
	const facts = "facts: {state: {json: state.json, schema: {properties: {note: {type: [string, 'null']}, n: {type: integer}, of: {type: object, properties: {tag: {type: string}}}}}}, open: {json: open.json}}\nlet: {note: state.note}\n"
	for when, want := range map[string]string{
		`exists(state.note)`: "error", `said(note)`: "error", `upper(state.note) == "X"`: "error", `state.n + 1 > 0`: "error", `state.n > 0`: "error",
		`state.note startsWith "x"`: "no", `len(state.note) > 0`: "error", `upper(state.of.tag) == "X"`: "error", `upper(state.note ?? "x") == "X"`: "holds",
		`state.note == nil`: "holds", `state.note == "x"`: "no", `upper(open.note) == "X"`: "error", `open.n > 1`: "error",
	} {
		p := load(t, policy(facts+"rules: [{name: a, when: '"+when+"', log: on}]\n"))
		v := p.Eval(t.Context(), rules.Values(map[string]any{"state": map[string]any{"note": nil}, "open": map[string]any{}}), rules.Options{})
		if got := string(v.Trace.Steps[0].Outcome); got != want || (len(v.Problems) > 0) != (want == "error") {
			t.Errorf("%s: %s, want %s: %q", when, got, want, v.Problems)
		}
	}
}

// An unusable field matters only if something reads it: a let that decides without it, or
// takes another branch, does not.
func TestFieldsOfBranches(t *testing.T) {
	const facts = "facts: {state: {json: state.json, schema: {properties: {n: {type: integer, default: 1}, on: {type: boolean, default: true}, note: {type: [string, 'null']}, tag: {type: string}}}}}\n"
	const bad = `fault "fact" state.n`
	for _, tt := range []struct {
		lets, when string
		on         bool
		want       string
	}{
		{"a: 'state.on ? 1 : state.n'", "a == 1", true, "continue"},
		{"a: 'state.on ? 1 : state.n'", "a == 1", false, bad},
		{"a: 'state.on or state.n > 0'", "a", true, "continue"},
		{"a: 'state.on or state.n > 0'", "a", false, bad},
		{"a: 'state.on or state.n > 0', b: 'a ? 1 : state.n', c: 'b + 1'", "c == 2", true, "continue"},
		{"a: 'state.on or state.n > 0', b: 'a ? 1 : state.n', c: 'b + 1'", "c == 2", false, bad},
		{"a: 'state.on ? 1 : state.n', b: 'not state.on ? a : 1'", "b == 1 and a == 1", true, "continue"},
		{"a: state.n", "state.on or a == 1", true, "continue"},
		{"a: state.n", "a == 1", true, bad},
		{"a: 'state.on ? state : nil'", "a.n == 1", true, bad},
		{"a: 'state.on ? state : nil'", "a.on", true, "continue"},
	} {
		p := load(t, policy(facts+"let: {"+tt.lets+"}\nrules: [{name: go, when: '"+tt.when+"', continue: on}]\n"))
		for range 2 { // an evaluation is used again
			v := p.Eval(t.Context(), rules.Values(map[string]any{"state": map[string]any{"n": "x", "on": tt.on}}), rules.Options{})
			got := v.Action.String()
			if v.Cause != "" {
				got = `fault "` + string(v.Cause) + `"`
			}
			for _, p := range v.Problems {
				got += " " + p.Text
			}
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s, %s, on %t: %s, want %s", tt.lets, tt.when, tt.on, got, tt.want)
			}
		}
	}
}
