package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// A side has the value of its expression, also where a comparison ends early, and whether or not it was decided before.
func TestSides(t *testing.T) {
	facts := rules.Values(map[string]any{"s": map[string]any{"some": []int{1, 2, 3, 4, 5}}})
	for when, want := range map[string][]string{
		"count(s.some, # > 1) >= 2":                {"count(s.some, # > 1) = 4"},
		"len(filter(s.some, # > 1)) > 0":           {"len(filter(s.some, # > 1)) = 4"},
		"not (len(s.some) == 1 + 1)":               {"len(s.some) = 5", "1 + 1 = 2"},
		"let n = len(s.some); n + 1 > n":           nil, // one value
		"((len(s.some))) > 1 and len(s.name) != 3": {"len(s.some) = 5"},
		"trim(s.name) in split(s.name, ' ')":       {"trim(s.name) = a b", `split(s.name, ' ') = ["a","b"]`},
		"first(s.some) == last(s.some)":            {"first(s.some) = 1", "last(s.some) = 5"},
	} {
		t.Run(when, func(t *testing.T) {
			p := load(t, policy("facts:\n  s: {json: s.json, schema: {properties: {some: {type: array, items: {type: integer}}, name: {type: string, default: a b}}, required: [some]}}\nrules:\n  - {name: a, when: \""+when+"\", continue: on}\n"))
			first := p.Eval(t.Context(), facts, rules.Options{Trace: rules.TraceFull})
			p.Eval(t.Context(), facts, rules.Options{})
			again := p.Eval(t.Context(), facts, rules.Options{Trace: rules.TraceFull})
			for _, v := range []*rules.Verdict{first, again} {
				var got []string
				for _, r := range v.Trace.Steps[0].Operands[0].Reads {
					if !strings.HasPrefix(r.Name, "s.") {
						if raw, ok := r.Value.(json.RawMessage); ok {
							r.Value = string(raw)
						}
						got = append(got, fmt.Sprint(r.Name, " = ", r.Value))
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}
