package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// limited is a policy that continues always, with these limits and one param.
func limited(limits, param string) string {
	return "params: {cap: " + param + "}\nlimits: " + limits + "\nrules:\n  - {name: on, continue: go on}\n"
}

// A limit is a literal, or the name of a param whose value then counts, up to the ceiling.
func TestLimitsByParam(t *testing.T) {
	tests := []struct {
		limits, param, set string
		want               rules.Limits
	}{
		{"{continuations: cap}", "{type: integer, default: 7}", "", rules.Limits{Continuations: 7}},
		{"{continuations: cap}", "{type: integer, default: 7}", "9", rules.Limits{Continuations: 9}},
		{"{continuations: cap}", "{type: integer, default: 7}", "999999", rules.Limits{Continuations: 10_000}},
		{"{repeats: cap}", "{type: integer, default: 7}", "0", rules.Limits{HasRepeats: true}},
		{"{elapsed: cap}", "{type: string, default: 30m}", "", rules.Limits{Elapsed: 30 * time.Minute}},
		{"{elapsed: cap}", "{type: string, default: 30m}", "9999h", rules.Limits{Elapsed: 720 * time.Hour}},
		{"{total: cap}", "{type: integer, default: 7}", "", rules.Limits{Total: 7}},
		{"{tokens: cap}", "{type: integer, default: 0}", "2000000", rules.Limits{Tokens: 2_000_000}},
		{"{failures: cap}", "{type: integer, default: 2}", "", rules.Limits{Failures: 2}},
		{"{iterations: cap}", "{type: integer, default: 0}", "", rules.Limits{Iterations: 0}},
		{"{cost: cap}", "{type: number, default: 2.5}", "", rules.Limits{Cost: 2.5}},
		{"{cost: cap}", "{type: integer, default: 2}", "", rules.Limits{Cost: 2}},
		{"{cost: 0.25, tokens: 100, failures: 1, iterations: 20}", "{type: integer, default: 1}", "", rules.Limits{Cost: .25, Tokens: 100, Failures: 1, Iterations: 20}},
	}
	for _, tt := range tests {
		t.Run(tt.limits+" "+tt.param+" "+tt.set, func(t *testing.T) {
			cfg := rules.Config{}
			if tt.set != "" {
				cfg.Set = map[string]string{"cap": tt.set}
			}
			got := loadWith(t, policy(limited(tt.limits, tt.param)), cfg).Limits()
			usual := load(t, policy("rules: []")).Limits()
			want := tt.want
			want.Written = true
			for key, field := range map[string]func(*rules.Limits) *int{
				"continuations": func(l *rules.Limits) *int { return &l.Continuations }, "total": func(l *rules.Limits) *int { return &l.Total },
				"iterations": func(l *rules.Limits) *int { return &l.Iterations },
			} {
				if !strings.Contains(tt.limits, key) {
					*field(&want) = *field(&usual)
				}
			}
			if !strings.Contains(tt.limits, "elapsed") {
				want.Elapsed = usual.Elapsed
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitsThatDoNotLoad(t *testing.T) {
	tests := []struct{ limits, param, want string }{
		{"{total: many}", "{type: integer, default: 1}", `limits.total must be a literal or the name of a param; got "many"; the params are "cap"`},
		{"{total: cpa}", "{type: integer, default: 1}", `got "cpa"`},
		{"{total: cap}", "{type: string, default: '5'}", `limits.total must be a whole number; the param "cap" is string`},
		{"{total: cap}", "{type: number, default: 5}", `limits.total must be a whole number; the param "cap" is number`},
		{"{total: cap}", "{type: integer, default: -5}", `limits.total must be a whole number, 0 or more; the param "cap" is -5`},
		{"{cost: cap}", "{type: number, default: -0.5}", `limits.cost must be a number, 0 or more; the param "cap" is -0.5`},
		{"{cost: cap}", "{type: string, default: free}", `limits.cost must be a number; the param "cap" is string`},
		{"{elapsed: cap}", "{type: integer, default: 5}", `limits.elapsed must be a duration such as "30m"; the param "cap" is int`},
		{"{elapsed: cap}", "{type: string, default: soon}", `limits.elapsed must be a duration such as 30m; the param "cap" is soon`},
		{"{cost: -1}", "{type: integer, default: 1}", "cost must be a number, 0 or more"},
		{"{tokens: 1.5}", "{type: integer, default: 1}", "tokens must be a whole number, 0 or more"},
	}
	for _, tt := range tests {
		t.Run(tt.limits+" "+tt.param, func(t *testing.T) {
			if got := refused(t, limited(tt.limits, tt.param), rules.Config{}); !strings.Contains(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A param that only a limit names is used.
func TestLimitUsesItsParam(t *testing.T) {
	_, diags := rules.Check(t.Context(), policy(limited("{repeats: cap}", "{type: integer, default: 1}")).fs(), "policy.yaml", rules.Config{})
	for _, d := range diags {
		if d.Check == "unused" {
			t.Error(d.Message)
		}
	}
}
