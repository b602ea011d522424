package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// words is a decision in a few words.
func words(d rules.Side) string {
	switch {
	case d.Rule == "":
		return "no rule decides, the agent may stop"
	case d.Failed:
		return d.Rule + " stops, because it is undecided"
	}
	return d.Rule + map[rules.Action]string{rules.Stop: " stops", rules.Continue: " continues", rules.Ask: " asks"}[d.Action]
}

// told returns a comparison in a few lines.
func told(t testing.TB, c *rules.Comparison) string {
	t.Helper()
	var b strings.Builder
	for _, d := range c.Differences {
		w, err := json.Marshal(d.Situation)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s → %s: %s\n", words(d.Old), words(d.New), w)
	}
	for _, d := range c.Unknown {
		fmt.Fprintf(&b, "%s → %s: unknown: %s\n", words(d.Old), words(d.New), d.Why)
	}
	for _, s := range c.Uncompared {
		fmt.Fprintln(&b, "uncompared:", s)
	}
	for _, s := range c.Notes {
		fmt.Fprintln(&b, "note:", s)
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	const state = `facts:
  state:
    json: state.json
    inline: true
    schema: {properties: {phase: {enum: [plan, work], default: plan}, step: {type: integer, minimum: 0, default: 0}, steps: {type: integer, minimum: 0, default: 0}}}
`
	const work = state + `rules:
  - {name: finished, when: step >= steps, stop: finished}
  - {name: work, when: phase == "work", continue: work}
`
	for _, tt := range []struct {
		name     string
		old, now string
		texts    bool
		set      map[string]string
		want     string
	}{
		{name: "the same policy", old: work, now: work},
		{
			name: "another way to say the same",
			old:  work,
			now: state + `rules:
  - {name: go-on, when: 'step + 1 <= steps and not (phase != "work")', continue: work}
`,
		},
		{
			name: "a when of the policy itself",
			old:  work,
			now:  "when: not stop_hook_active\n" + work,
			want: `work continues → no rule decides, the agent may stop: {"facts":{"state":{"phase":"work","step":0,"steps":1}},"names":{"stop_hook_active":true}}
`,
		},
		{
			name: "a when that says what the first rule said",
			old: state + `rules:
  - {name: again, when: stop_hook_active, stop: once is enough}
  - {name: work, when: phase == "work", continue: work}
`,
			now: "when: not stop_hook_active\n" + state + `rules:
  - {name: work, when: phase == "work", continue: work}
`,
		},
		{
			name: "one less",
			old:  work,
			now: state + `rules:
  - {name: finished, when: step > steps, stop: finished}
  - {name: work, when: phase == "work", continue: work}
`,
			want: `finished stops → work continues: {"facts":{"state":{"phase":"work","step":0,"steps":0}}}
`,
		},
		{
			name: "a rule that is gone, and one that is new",
			old:  work,
			now: state + `rules:
  - {name: repair, when: invalid(state), continue: repair}
`,
			want: `finished stops, because it is undecided → repair continues: {"invalid":{"state":"it cannot be read"}}
work continues → no rule decides, the agent may stop: {"facts":{"state":{"phase":"work","step":0,"steps":1}}}
`,
		},
		{
			name: "a stop that asks",
			old:  work,
			now: state + `rules:
  - {name: finished, when: step >= steps, ask: "Is it finished?"}
  - {name: work, when: phase == "work", continue: work}
`,
			want: `finished stops → finished asks: {"facts":{"state":{"step":0,"steps":0}}}
`,
		},
		{
			name: "another question",
			old: state + `rules:
  - {name: finished, when: step >= steps, ask: "Is it finished?"}
`,
			now: state + `rules:
  - {name: finished, when: step >= steps, ask: "What is left?"}
`,
			texts: true,
			want: `finished asks → finished asks: {"facts":{"state":{"step":0,"steps":0}}}
`,
		},
		{
			name: "what is not known may differ",
			old:  work,
			now: state + `rules:
  - {name: finished, when: step >= steps, stop: finished}
  - {name: said, when: said("DONE"), stop: said}
  - {name: work, when: phase == "work", continue: work}
`,
			want: "work continues → said stops: unknown: that depends on `said(\"DONE\")`, which diff does not evaluate\n",
		},
		{
			name: "what is not known but the same does not",
			old: state + `rules:
  - {name: said, when: said("DONE"), stop: said}
  - {name: work, when: phase == "work", continue: work}
`,
			now: state + `rules:
  - {name: work, when: phase == "work" and not said("DONE"), continue: work}
`,
		},
		{
			name: "a let of the same name that means something else",
			old: state + `let: {far: step * 3 > steps}
rules:
  - {name: far, when: far, continue: far}
`,
			now: state + `let: {far: step * 4 > steps}
rules:
  - {name: far, when: far, continue: far}
`,
			want: "far continues → no rule decides, the agent may stop: unknown: that depends on `step * 3 > steps` and `step * 4 > steps`, which diff does not evaluate\n" +
				"no rule decides, the agent may stop → far continues: unknown: that depends on `step * 3 > steps` and `step * 4 > steps`, which diff does not evaluate\n",
		},
		{
			name: "a fact of the same name that comes from elsewhere",
			old:  work,
			now:  strings.Replace(work, "state.json", "other.json", 1),
			want: `finished stops → work continues: {"facts":{"state (new)":{"phase":"work","step":0,"steps":1},"state (old)":{"step":0,"steps":0}}}
work continues → finished stops: {"facts":{"state (new)":{"step":0,"steps":0},"state (old)":{"phase":"work","step":0,"steps":1}}}
work continues → no rule decides, the agent may stop: {"facts":{"state (old)":{"phase":"work","step":0,"steps":1}},"missing":["state (new)"]}
no rule decides, the agent may stop → work continues: {"facts":{"state (new)":{"phase":"work","step":0,"steps":1}},"missing":["state (old)"]}
note: the fact "state" comes from another source: the two are named "state (old)" and "state (new)"
`,
		},
		{
			name: "a default that differs",
			old:  work,
			now:  strings.Replace(work, "[plan, work], default: plan", "[plan, work], default: work", 1),
			want: "uncompared: the default of state.phase differs: a state without it may be decided differently\n",
		},
		{
			name: "a bound that differs is no difference by itself",
			old:  work,
			now:  strings.Replace(work, "step: {type: integer, minimum: 0", "step: {type: integer, minimum: 1", 1),
		},
		{
			name: "limits and events",
			old:  work,
			now:  "events: [Stop, SubagentStop]\nlimits: {repeats: 3}\n" + work,
			want: `note: events: none before, ["Stop","SubagentStop"] now
note: limits: none before, {"repeats":3} now
`,
		},
		{
			name: "successes, measures and the newer limits",
			old:  "measure: {done: 0, total: state.steps}\n" + work,
			now:  "limits: {tokens: 1000, failures: 1, iterations: 5, cost: 2.5}\n" + strings.Replace(work, "stop: finished", "stop: finished, success: true", 1),
			want: `note: limits: none before, {"cost":2.5,"failures":1,"iterations":5,"tokens":1000} now
note: measure: {"done":0,"total":"state.steps"} before, none now
note: success of finished: none before, true now
`,
		},
		{
			name: "effects and memory",
			old:  "memory: {turns: {type: integer, default: 0}}\n" + strings.Replace(work, "stop: finished", "stop: finished, then: [{remember: turns = step}, {run: [notify, done]}, {archive: state}]", 1),
			now:  "memory: {turns: {type: integer, default: 1, per: project}}\n" + strings.Replace(work, "stop: finished", "stop: finished, then: [{remember: turns = steps}, {run: [notify, over], timeout: 5s}, {archive: state}]", 1),
			want: `note: memory: {"turns":{"default":0,"type":"integer"}} before, {"turns":{"default":1,"per":"project","type":"integer"}} now
note: then of finished: [{"remember":"turns = step"},{"run":["notify","done"]},{"archive":"state"}] before, [{"remember":"turns = steps"},{"run":["notify","over"],"timeout":"5s"},{"archive":"state"}] now
`,
		},
		{
			name: "the defaults of ralph run",
			old:  "run: {client: claude}\n" + work,
			now:  "run: {client: sh, args: [-c, evil], fresh: false, iteration: 5m}\n" + work,
			want: `note: run: {"client":"claude"} before, {"args":["-c","evil"],"client":"sh","fresh":false,"iteration":"5m"} now
`,
		},
		{name: "a string says the same in other words", old: work, now: strings.Replace(work, "continue: work", "continue: do", 1)},
		{
			name: "which counts if texts do", texts: true, old: work, now: strings.Replace(work, "continue: work", "continue: do", 1),
			want: `work continues → work continues: {"facts":{"state":{"phase":"work","step":0,"steps":1}}}
`,
		},
		{
			name: "a rule that steps aside",
			old: state + `rules:
  - {name: once, when: phase == "work", unless_repeated: {times: 2}, stop: once}
  - {name: work, when: phase == "work", continue: work}
`,
			now: state + `rules:
  - {name: work, when: phase == "work", stop: work}
`,
			want: `work continues → work stops: {"facts":{"state":{"phase":"work"}},"repeated":{"once":2}}
`,
		},
		{
			name: "params have their values",
			old: `params: {most: {type: integer, default: 5}}
` + state + `rules:
  - {name: work, when: step < most, continue: work}
`,
			now: state + `rules:
  - {name: work, when: step < 7, continue: work}
`,
			set: map[string]string{"most": "7"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old := loadWith(t, policy(tt.old), rules.Config{Set: tt.set})
			got := rules.Diff(old, load(t, policy(tt.now)), tt.texts)
			if diff := cmp.Diff(tt.want, told(t, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			same := !strings.Contains(tt.want, "→") && !strings.Contains(tt.want, "uncompared")
			if got.Same != same {
				t.Errorf("Same is %t", got.Same)
			}
		})
	}
}

// ExampleDiff shows how moving a bound changes a loop.
func ExampleDiff() {
	policy := func(bound string) *rules.Program {
		p, _ := rules.Load(context.Background(), fstest.MapFS{"loop.yaml": {Data: []byte(`
ralph: 1
facts:
  plan: {frontmatter: plan.md, schema: {properties: {turn: {type: integer, minimum: 0, default: 0}}}}
rules:
  - {name: go-on, when: ` + bound + `, continue: go on}
`)}}, "loop.yaml", rules.Config{})
		return p
	}
	c := rules.Diff(policy("plan.turn < 10"), policy("plan.turn <= 10"), false)
	for _, d := range c.Differences {
		fmt.Printf("%q %s → %q %s\n%v\n", d.Old.Rule, d.Old.Action, d.New.Rule, d.New.Action, d.Situation.Facts)
	}
	// Output:
	// "" stop → "go-on" continue
	// map[plan:map[turn:10]]
}

// ExampleCheck shows the finding for a rule that can never decide.
func ExampleCheck() {
	_, diags := rules.Check(context.Background(), fstest.MapFS{"loop.yaml": {Data: []byte(`
ralph: 1
rules:
  - name: once
    when: stop_hook_active
    stop: once is enough
  - name: planning
    when: stop_hook_active and permission_mode == "plan"
    stop: a plan is being made
`)}}, "loop.yaml", rules.Config{})
	fmt.Print(diags.Format())
	// Output:
	// loop.yaml:7:5: warning: the rule "planning" never decides: whenever it holds, "once" decides before it [shadowed-rule]
	//   |
	// 7 |   - name: planning
	//   |     ^~~~~~~~~~~~~~
	//   = help: move it up, or remove it
	//   = situation: {"names":{"permission_mode":"plan","stop_hook_active":true}}
	//   = note: "once" decides first (loop.yaml:4:5)
}

// Analyses and comparisons of one program may run beside its evaluation.
func TestAnalyzeBesideEval(t *testing.T) {
	p := load(t, files{"policy.yaml": benchPolicy})
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			p.Analyze()
			rules.Diff(p, p, true)
			p.Eval(context.Background(), newConstantWorld(), rules.Options{})
		}()
	}
	for range 4 {
		<-done
	}
}
