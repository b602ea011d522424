package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// Only a stop rule with success is a success.
func TestSuccess(t *testing.T) {
	const text = `
facts:
  s: {json: s.json, schema: {properties: {n: {type: integer, default: 0}}}}
rules:
  - {name: done, when: s.n == 1, stop: done, success: true}
  - {name: given-up, when: s.n == 2, stop: given up, success: false}
  - {name: on, when: s.n < 9, continue: go on}
`
	for n, want := range map[int]bool{0: false, 1: true, 2: false, 9: false} {
		v := decide(t, text, &world{facts: map[string]rules.Value{"s": is(object{"n": n})}})
		if v.Success != want {
			t.Errorf("n is %d: success is %t, want %t", n, v.Success, want)
		}
	}
	for _, rule := range []string{"continue: go on", "note: so far", "log: text"} {
		if got := refused(t, "rules:\n  - {name: a, "+rule+", success: true}\n", rules.Config{}); !strings.Contains(got, "success needs stop in the same rule") {
			t.Errorf("%s: %s", rule, got)
		}
	}
}

// A rule that comes after what could not be evaluated does not know that the work is done.
func TestSuccessInDoubt(t *testing.T) {
	const text = `
facts:
  tests: {exec: [make, test]}
rules:
  - {name: red, when: tests.code != 0, continue: make it green}
  - {name: done, stop: done, success: true}
`
	for _, c := range []struct {
		name string
		w    *world
		want bool
	}{
		{"all is known", &world{facts: map[string]rules.Value{"tests": is(object{"code": 0, "stdout": "1", "stderr": ""})}}, true},
		{"a program may not run", &world{facts: map[string]rules.Value{"tests": {Status: rules.Missing, Problem: "is not approved"}}}, false},
		{"a program printed no object", &world{facts: map[string]rules.Value{"tests": {Status: rules.Invalid, Problem: "is broken"}}}, false},
	} {
		v := decide(t, text, c.w)
		if v.Action != rules.Stop || v.Rule != "done" || v.Success != c.want {
			t.Errorf("%s: %s by %q, success %t, want %t; problems %q", c.name, v.Action, v.Rule, v.Success, c.want, v.Problems)
		}
	}
}

const measured = `
facts:
  todo: {checklist: todo.md}
  other: {json: other.json, schema: {properties: {n: {type: integer, default: 0}}}}
`

// The measure uses what the decision read, and does not change the verdict.
func TestMeasure(t *testing.T) {
	todo := is([]any{object{"text": "a", "done": true}, object{"text": "b", "done": false}})
	rest := "rules:\n  - {name: off, when: stop_hook_active, stop: off}\n  - {name: open, when: 'any(todo, not .done)', continue: go on}\n"
	tests := []struct {
		name, measure string
		names         map[string]any
		want          []float64
		warning       string
	}{
		{"counts what the rules read", "{done: 'count(todo, .done)', total: len(todo)}", nil, []float64{1, 2}, ""},
		{"is a number of any kind", "{done: 0.5, total: 1}", nil, []float64{.5, 1}, ""},
		{"reads nothing itself", "{done: other.n, total: len(todo)}", nil, nil, ""},
		{"asks nothing itself", "{done: 'exists(\"a\") ? 1 : 0', total: 1}", nil, nil, ""},
		{"is absent where the decision read less", "{done: 'count(todo, .done)', total: len(todo)}", map[string]any{"stop_hook_active": true}, nil, ""},
		{"is never negative", "{done: 0 - 1, total: 1}", nil, nil, "measure: 0 - 1 must be a number, 0 or more"},
		{"fails alone", "{done: 'int(todo[0].text)', total: 1}", nil, nil, "int(…) cannot read"},
		{"has a share of the budget", "{done: 'reduce(1..2000000, #acc + #, 0)', total: 1}", nil, nil, "the evaluation takes too many steps"},
		{"knows the loop", "{done: loop.total, total: 10}", nil, []float64{0, 10}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{facts: map[string]rules.Value{"todo": todo}, names: tt.names}
			v := decide(t, measured+"measure: "+tt.measure+"\n"+rest, w)
			plain := &world{facts: w.facts, names: tt.names}
			if diff := cmp.Diff(said(decide(t, measured+rest, plain)), said(v)); diff != "" {
				t.Errorf("the verdict is another one (-without +with):\n%s", diff)
			}
			if diff := cmp.Diff(plain.asked, w.asked); diff != "" {
				t.Errorf("it asks for more (-without +with):\n%s", diff)
			}
			var got []float64
			if v.Measure != nil {
				got = []float64{v.Measure.Done, v.Measure.Total}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if warnings := strings.Join(v.Trace.Warnings, "\n"); !strings.Contains(warnings, tt.warning) || tt.warning == "" && warnings != "" {
				t.Errorf("the trace warns %q, want %q", warnings, tt.warning)
			}
		})
	}
}

func TestMeasureThatDoesNotLoad(t *testing.T) {
	for measure, want := range map[string]string{
		"{done: 1}":                       "measure needs both done and total",
		"5":                               "measure must be a map",
		"{done: '\"a\"', total: 1}":       "measure takes numbers; got a string",
		"{done: 1, total: true}":          "measure takes numbers; got true or false",
		"{done: 1, total: nothing}":       "nothing",
		"{done: 1, total: 2, percent: 3}": `unknown key "percent" in measure`,
	} {
		if got := refused(t, "measure: "+measure+"\nrules: []\n", rules.Config{}); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", measure, got, want)
		}
	}
}

// A number computed from a private value is private, except for its length.
func TestMeasureOfPrivateValues(t *testing.T) {
	const text = "measure: {done: int(last_assistant_message), total: len(last_assistant_message)}\nrules:\n  - {name: on, when: last_assistant_message != \"\", continue: go on}\n"
	w := &world{names: map[string]any{"last_assistant_message": "1234"}}
	if v := decide(t, text, w); v.Measure != nil {
		t.Errorf("it shows %v", *v.Measure)
	}
	o := w.options()
	o.Trace = rules.TraceClear
	if v := load(t, policy(text)).Eval(t.Context(), w, o); v.Measure == nil || v.Measure.Done != 1234 {
		t.Errorf("a clear trace shows %v", v.Measure)
	}
}
