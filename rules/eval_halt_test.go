package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// A continue with on_unknown: stop ends the trying if it is unknown, for whatever reason.
func TestOnUnknown(t *testing.T) {
	type result struct {
		Action rules.Action
		By     string
		Text   string
		Fault  rules.Cause
		Streak int
	}
	unusable := with(is(object{"n": "x"}), "/n")
	for _, tt := range []struct {
		name string
		gate string
		plan rules.Value
		want result
	}{
		{"it holds", "first", is(object{"n": 1}), result{rules.Continue, "plan", "Plan", "", 3}},
		{"it does not hold", "first", is(object{"n": 0}), result{rules.Continue, "next", "Next", "", 3}},
		{"missing", "first", missing, result{rules.Stop, "plan", "the rule plan is undecided: plan is missing: plan.json there is no file", "", 0}},
		{"unusable", "first", unusable, result{rules.Stop, "plan", "the rule plan is undecided: plan.json: plan.n expected integer, got string", rules.FaultFact, 2}},
		{"an error", "first", is(object{}), result{rules.Stop, "plan", "the rule plan is undecided: plan.n is missing", rules.FaultRule, 2}},
		{"missing, with gate: all", "all", missing, result{rules.Continue, "first", "First", "", 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := ""
			if tt.gate == "all" {
				first = "{name: first, continue: First},"
			}
			p := load(t, files{"policy.yaml": "ralph: 1\ngate: " + tt.gate + `
facts: {plan: {json: plan.json, schema: {properties: {n: {type: integer}}}}}
rules: [` + first + `{name: plan, when: plan.n > 0, continue: Plan, on_unknown: stop}, {name: next, continue: Next}]
`})
			v := p.Eval(t.Context(), &world{facts: map[string]rules.Value{"plan": tt.plan}}, rules.Options{Time: today(), Memory: rules.Memory{Streak: 2}})
			if diff := cmp.Diff(tt.want, result{v.Action, v.Rule, v.Reason, v.Cause, v.Memory.Streak}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
