package rules_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

// An error hides no other one: what is wrong with a rule, and what the program does not
// allow, is all reported at once.
func TestErrorsHideNone(t *testing.T) {
	const head = "ralph: 1\nfacts: {state: {json: state.json, schema: {properties: {phase: {type: string}}}}, out: {exec: [make]}}\nrules:\n"
	allow := []rules.Capabilities{{Sources: []string{"json"}, Paths: []string{"state.json"}}}
	for rule, want := range map[string][]string{
		`{when: state.phaze == "x", stop: "${state.phase2}"}`:                                      {"rule-name", "unknown-field", "unknown-field", "not-allowed"},
		`{when: state.phaze == "x", stop: a}, {when: state.fase == "x", stop: b}`:                  {"rule-name", "unknown-field", "rule-name", "unknown-field", "not-allowed"},
		`{name: [a], when: state.phaze == "x", stop: a}`:                                           {"syntax", "unknown-field", "not-allowed"},
		`{name: a, when: state.phaze == "x", stop: a, continue: b}`:                                {"verbs", "unknown-field", "not-allowed"},
		`{name: a, when: "", stop: "${state.phaze}"}`:                                              {"empty", "unknown-field", "not-allowed"},
		`{name: a, when: state.phaze == "x" and exists("x"), stop: "${session_id}"}`:               {"unknown-field", "not-allowed", "not-allowed", "not-allowed", "not-allowed"},
		`{name: a, stop: a, then: [{delete: state}, {delete: stat}]}`:                              {"not-allowed", "not-allowed", "unknown-fact"},
		`{name: a, stop: a, then: [{prune: {glob: "other/*", older: 1h}}], whn: session_id == ""}`: {"unknown-key", "not-allowed", "not-allowed", "not-allowed"},
	} {
		p, diags := rules.LoadBytes(t.Context(), "policy.yaml", []byte(head+"  ["+rule+"]\n"), rules.Config{Allow: allow})
		found := map[string]int{}
		for _, d := range diags {
			if d.Severity == rules.Error {
				found[d.Check]++
			}
		}
		for _, check := range want {
			found[check]--
		}
		for check, n := range found {
			if n != 0 || p != nil {
				t.Errorf("%s: %d findings %s too many:\n%s", rule, n, check, strings.TrimSpace(diags.Err().Error()))
			}
		}
	}
}
