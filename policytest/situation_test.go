package policytest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// The situation of a finding, as check prints it, becomes the situation of a test.
func TestFromSituation(t *testing.T) {
	w := rules.Situation{
		Facts:    map[string]any{"state": map[string]any{"phase": "work"}},
		Missing:  []string{"list"},
		Invalid:  map[string]string{"epic": "is blank"},
		Unusable: []string{"state.total"},
		Names:    map[string]any{"stop_hook_active": true, "loop.repeats": 2, "env.CI": "1", "transcript.tokens": 9},
		Params:   map[string]any{"most": 7},
		Given:    map[string]int{"ask": 1},
	}
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	d, err := policytest.FromSituation(text)
	if err != nil {
		t.Fatal(err)
	}
	want := policytest.Draft{
		Name: "a situation",
		Given: map[string]any{
			"facts":            map[string]any{"state": map[string]any{"phase": "work", "total": map[string]any{"of": "a wrong type"}}},
			"missing":          []any{"list"},
			"invalid":          map[string]any{"epic": "is blank"},
			"stop_hook_active": true,
			"loop":             map[string]any{"repeats": 2.0},
			"env":              map[string]any{"CI": "1"},
			"set":              map[string]any{"most": 7.0},
			"repeated":         map[string]any{"ask": 1.0},
		},
		Note: `(not given: "transcript.tokens")`,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d.Expect = map[string]any{"rule": "x"}
	if _, err := policytest.Append("x_test.yaml", nil, d); err != nil {
		t.Error(err)
	}
}

// A situation may also come with a name and with what is expected.
func TestFromSituationWhole(t *testing.T) {
	d, err := policytest.FromSituation([]byte(`{"name": "a test", "event": "UserPromptSubmit", "note": "why", "given": {"facts": {"a": 1}}, "expect": {"rule": "r"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := policytest.Draft{
		Name: "a test", Event: "UserPromptSubmit", Note: "why",
		Given: map[string]any{"facts": map[string]any{"a": 1.0}}, Expect: map[string]any{"rule": "r"},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A misspelled key must not result in a different test.
func TestFromSituationUnknownKey(t *testing.T) {
	for situation, want := range map[string]string{
		`{"facst": {}}`: `did you mean "facts"?`,
		`{"given": {"mising": ["a"]}, "name": "x"}`: `did you mean "missing"?`,
		`{"given": {"facts": {}}, "nmae": "x"}`:     `unknown field "nmae"`,
		`{"given": {"facts": {}}, "facts": {}}`:     `unknown field "facts"`,
		`{"given": 1}`:                              "the situation is not a test",
		`[]`:                                        "the situation is not a JSON object",
	} {
		d, err := policytest.FromSituation([]byte(situation))
		if err == nil {
			d.Expect = map[string]any{"rule": "r"}
			_, err = policytest.Append("x_test.yaml", nil, d)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", situation, err, want)
		}
	}
}

// A situation is decided without a file of tests.
func TestDecide(t *testing.T) {
	const src = "ralph: 1\nparams:\n  most: {type: integer, default: 3, description: d}\nfacts:\n  state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}\n" +
		"rules:\n  - name: enough\n    when: state.n >= most\n    stop: enough\n  - name: next\n    when: ok(state)\n    continue: go on\n"
	cfg := loop.Config()
	p, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), cfg)
	if p == nil {
		t.Fatal(diags.Err())
	}
	for _, tt := range []struct{ situation, rule, err string }{
		{`{"facts": {"state": {"n": 3}}}`, "enough", ""},
		{`{"given": {"facts": {"state": {"n": 2}}}, "event": "Stop"}`, "next", ""},
		{`{"missing": ["state"]}`, "", ""},
		{`{"set": {"most": "1"}}`, "", "the situation sets params"},
		{`{"facts": {"nosuch": {}}}`, "", `"nosuch"`},
		{`{"files": {"../x": "y"}}`, "", "../x"},
	} {
		d, err := policytest.FromSituation([]byte(tt.situation))
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Decide(t.Context(), p, cfg)
		if r.Rule != tt.rule || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: rule %q, %v", tt.situation, r.Rule, err)
		}
	}
}
