package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// After a turn that failed, the agent may stop, unless the policy continues after
// failures.
func TestFailures(t *testing.T) {
	failed := object{"kind": "rate_limited", "text": "secret"}
	tests := []struct {
		name, limits string
		failed       any
		before       int
		want         string
		after        int
	}{
		{"a turn that went well", "{}", nil, 0, "continue on: go on", 0},
		{"a turn that failed", "{}", failed, 0, "stop limits.failures: the turn failed (rate_limited)", 0},
		{"the first of two that are allowed", "{failures: 2}", failed, 0, "continue on: go on", 1},
		{"the second of two that are allowed", "{failures: 2}", failed, 1, "continue on: go on", 2},
		{"the third", "{failures: 2}", failed, 2, "stop limits.failures: the turn failed (rate_limited), and so did the 2 before it", 2},
		{"the count ends with a turn that went well", "{failures: 2}", nil, 2, "continue on: go on", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{names: map[string]any{"transcript.failed": tt.failed}, memory: rules.Memory{Streak: 3, Total: 3, Failures: tt.before}}
			v := decide(t, "limits: "+tt.limits+"\nrules:\n  - {name: on, continue: go on, log: on}\n", w)
			if diff := cmp.Diff(tt.want, said(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := v.Memory.Failures; got != tt.after {
				t.Errorf("the memory has %d failures, want %d", got, tt.after)
			}
		})
	}
}

// Limits of tokens and of a run count where there is a number.
func TestLimitsOfUse(t *testing.T) {
	run := func(iteration int, more ...any) map[string]any {
		names := map[string]any{"run.iteration": iteration, "transcript.total_tokens": 999}
		for i := 0; i < len(more); i += 2 {
			names[more[i].(string)] = more[i+1]
		}
		return names
	}
	tests := []struct {
		name, limits string
		names        map[string]any
		want         string
	}{
		{"tokens of the session", "{tokens: 1000}", map[string]any{"transcript.total_tokens": 1000}, "stop limits.tokens: 1000 tokens are used, the limit is 1000"},
		{"fewer tokens", "{tokens: 1000}", map[string]any{"transcript.total_tokens": 999}, "continue on: go on"},
		{"no limit", "{tokens: 0}", map[string]any{"transcript.total_tokens": 1000}, "continue on: go on"},
		{"tokens of the run", "{tokens: 1000}", run(1, "run.tokens", 1000), "stop limits.tokens: 1000 tokens are used, the limit is 1000"},
		{"not those of its session", "{tokens: 500}", run(1, "run.tokens", 499), "continue on: go on"},
		{"iterations", "{iterations: 3}", run(3), "stop limits.iterations: the limit of 3 iterations is reached"},
		{"fewer iterations", "{iterations: 3}", run(2), "continue on: go on"},
		{"iterations that no policy limits", "{}", run(100), "continue on: go on"},
		{"cost", "{cost: 2.5}", run(1, "run.cost", 2.5), "stop limits.cost: the run has cost 2.50 USD, the limit is 2.50"},
		{"less cost", "{cost: 2.5}", run(1, "run.cost", 2.49), "continue on: go on"},
		{"unknown cost", "{cost: 2.5}", run(1, "run.cost", nil), "continue on: go on"},
		{"outside of a run", "{cost: 2.5, iterations: 0}", run(0, "run.cost", 9.0), "continue on: go on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := decide(t, "limits: "+tt.limits+"\nrules:\n  - {name: on, continue: go on}\n", &world{names: tt.names})
			if diff := cmp.Diff(tt.want, said(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The limits also apply if a policy declares a fact named run.
func TestLimitsBesideDeclaredNames(t *testing.T) {
	w := &world{
		names: map[string]any{"run.iteration": 3},
		facts: map[string]rules.Value{"run": is(object{"iteration": 99})},
	}
	v := decide(t, "facts: {run: {json: run.json, schema: {properties: {iteration: {type: integer, default: 0}}}}}\nlimits: {iterations: 4}\nrules:\n  - {name: on, when: run.iteration == 99, continue: go on}\n", w)
	if diff := cmp.Diff("continue on: go on", said(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A policy's total counts what the session counts under its name or its content, and the built-in limits count all policies
// of the session.
func TestLimitsOfSessions(t *testing.T) {
	const src = "ralph: 1\nlimits: {continuations: 1000, total: 5}\nrules: [{name: on, continue: '${loop.total}'}]\n"
	eval := func(name string, o rules.Options) *rules.Verdict {
		p, diags := rules.LoadBytes(t.Context(), name, []byte(src), rules.Config{})
		if p == nil {
			t.Fatal(diags.Format())
		}
		return p.Eval(t.Context(), rules.Values(nil), o)
	}
	session := eval("one.yaml", rules.Options{Memory: rules.Memory{Total: 2}}).Session
	if session.Streak != 1 || session.Total != 1 || len(session.Of) != 2 || session.Of["one.yaml"] != 3 {
		t.Fatalf("the session counts %+v", session)
	}
	for _, c := range []struct {
		name    string
		policy  string
		session rules.Memory
		want    string
	}{
		{"elsewhere", "one.yaml", session, "continue on: 3"},
		{"under another name", "two.yaml", session, "continue on: 3"},
		{"as often as it may", "one.yaml", rules.Memory{Of: map[string]int{"one.yaml": 5}}, "stop limits.total: the limit of 5 continuations per session is reached"},
		{"another policy", "two.yaml", rules.Memory{Of: map[string]int{"one.yaml": 5}}, "continue on: 0"},
		{"all policies in a streak", "one.yaml", rules.Memory{Turn: "t", Streak: 10_000}, "stop limits.continuations: the limit of 10000 continuations per prompt, of all policies of the session, is reached"},
		{"in the next turn", "one.yaml", rules.Memory{Turn: "s", Streak: 10_000}, "continue on: 0"},
		{"all policies in a session", "one.yaml", rules.Memory{Turn: "s", Total: 100_000}, "stop limits.total: the limit of 100000 continuations per session, of all policies, is reached"},
	} {
		o := rules.Options{Turn: "t", Session: c.session}
		v := eval(c.policy, o)
		if diff := cmp.Diff(c.want, said(v)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		// A verdict that was made before the session counted the rest stays as long as no limit is reached.
		first := eval(c.policy, rules.Options{Turn: "t"})
		p, _ := rules.LoadBytes(t.Context(), c.policy, []byte(src), rules.Config{})
		if stays := p.Recount(first, o); stays != (v.Action == rules.Continue) {
			t.Errorf("%s: it stays: %v", c.name, stays)
		} else if stays && !cmp.Equal(first.Session, v.Session) || stays && first.Memory.Total != v.Memory.Total {
			t.Errorf("%s: %+v, %+v", c.name, first.Session, v.Session)
		}
	}
}
