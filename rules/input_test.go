package rules_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// A fact that the program passes is read by its schema. One that the program forgot is
// missing, which is ordinary, and reported; no default replaces it.
func TestInput(t *testing.T) {
	const head = "facts:\n  failing: {input: {type: integer}}\n  build: {input: {properties: {left: {type: integer, default: 0}}}}\n"
	for _, tt := range []struct {
		name, rules string
		given       map[string]any
		want        string // the action, its rule, the fault and the problems
	}{
		{"it decides", "{name: go, when: failing > 0, continue: x}", map[string]any{"failing": int8(2)}, "continue go"},
		{"fields have defaults", "{name: go, when: build.left == 0, continue: x}", map[string]any{"build": map[string]int{}}, "continue go"},
		{"none is reported", "{name: go, when: failing > 0, continue: x}", nil, `stop failing: is not provided by the program`},
		{"so is nil", "{name: go, when: failing > 0, continue: x}", map[string]any{"failing": nil}, `stop failing: is not provided by the program`},
		{"a rule that stops chooses", "{name: no, when: missing(failing), stop: x}", nil, `stop no failing: is not provided by the program`},
		{"a note does not choose", "{name: no, when: missing(failing), note: x}, {name: go, when: failing > 0, continue: x}", nil, `stop failing: is not provided by the program`},
		{"a stop rule that reads it does not hold", "{name: no, when: failing > 0, stop: x}, {name: go, continue: x}", nil, "continue go failing: is not provided by the program"},
		{"it is not read", "{name: go, when: build.left == 0 or failing > 0, continue: x}", map[string]any{"build": map[string]int{}}, "continue go"},
		{"a wrong type", "{name: go, when: failing > 0, continue: x}", map[string]any{"failing": "many"}, `stop fault "fact" failing: is "many", expected integer`},
		{"a field of a wrong type", "{name: go, when: build.left > 0, continue: x}", map[string]any{"build": map[string]any{"left": "many"}}, `stop fault "fact" build.left is "many", expected integer; write a whole number such as 3`},
	} {
		p := load(t, policy(head+"rules: ["+tt.rules+"]"))
		v := p.Eval(t.Context(), rules.Values(tt.given), rules.Options{})
		got := v.Action.String()
		if v.Rule != "" {
			got += " " + v.Rule
		}
		if v.Cause != "" {
			got += ` fault "` + string(v.Cause) + `"`
		}
		for _, problem := range v.Problems {
			got += " " + problem.Text
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// An input is a schema and nothing else: it has no default, and no time.
func TestInputRefused(t *testing.T) {
	for fact, want := range map[string]string{
		"{input: {type: integer, default: 0}}":       `policy.yaml:3:31: the program provides "it", so it cannot have a default`,
		"{input: number.json}":                       `policy.yaml:3:15: the program provides "it", so it cannot have a default`,
		"{input: {type: integer}, default: 0}":       `policy.yaml:3:32: unknown key "default" in an input fact`,
		"{input: {type: integer}, timeout: 3s}":      `policy.yaml:3:32: unknown key "timeout" in an input fact`,
		"{input: {type: integer}, schema: {}}":       `policy.yaml:3:32: unknown key "schema" in an input fact`,
		"{input: {type: whole}}":                     `policy.yaml:3:22: the schema cannot be used: `,
		"{input: ''}":                                `policy.yaml:3:15: the schema cannot be used: write an object, a file name or ralph:NAME`,
		"{input: {type: integer}, json: state.json}": `policy.yaml:3:3: the fact "it" needs exactly one source`,
	} {
		fsys := fstest.MapFS{
			"policy.yaml": {Data: []byte("ralph: 1\nfacts:\n  it: " + fact + "\nrules: [{name: go, when: it == 1, continue: x}]\n")},
			"number.json": {Data: []byte(`{"type": "integer", "default": 1}`)},
		}
		p, diags := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{})
		if err := diags.Err(); p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", fact, err, want)
		}
	}
}
