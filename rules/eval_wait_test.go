package rules_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// A rule with wait is a stop in the order of the rules. It holds until its until is true or it has waited as long as it may, and
// counts nothing.
func TestWait(t *testing.T) {
	type result struct {
		Action rules.Action
		By     string
		Text   string
		Seen   string // by the user
		Streak int
		Waits  map[string]time.Duration // ago, after the verdict
		Fault  rules.Cause
	}
	at := today()
	ago := func(rule string, d time.Duration) rules.Memory {
		return rules.Memory{Streak: 2, Since: at.Add(-time.Hour), Latest: at.Add(-time.Hour), Waits: map[string]time.Time{rule: at.Add(-d)}}
	}
	since := func(rule string, d time.Duration) map[string]time.Duration { return map[string]time.Duration{rule: d} }
	state := func(fields object) *world {
		all := object{"n": 1, "open": false, "done": false}
		maps.Copy(all, fields)
		return &world{facts: map[string]rules.Value{"s": is(all), "gone": {Status: rules.Missing, Quiet: true}}}
	}
	unusable := func(pointer string) *world {
		w := state(object{})
		w.facts["s"] = with(w.facts["s"], pointer)
		return w
	}
	fresh := rules.Memory{Streak: 2}
	stops := `{name: enough, when: s.n > 2, stop: enough}`
	waits := `{name: ci, when: s.open, wait: "CI ${s.n}", until: s.done, for: 30m}`
	goes := `{name: on, when: s.n < 9, continue: Go on}`
	over := `{name: late, when: waited, stop: it took too long}`
	const undecided = "the rule ci is undecided: s.json: s.done expected integer, got string"
	for _, tt := range []struct {
		name   string
		rules  string
		gate   string
		world  *world
		memory rules.Memory
		want   result
	}{
		{"it waits", stops + "," + waits + "," + goes, "first", state(object{"open": true}), fresh, result{rules.Wait, "ci", "CI 1", "the loop waits: CI 1", 2, since("ci", 0), ""}},
		{"it still waits", waits + "," + goes, "first", state(object{"open": true}), ago("ci", 29*time.Minute), result{rules.Wait, "ci", "CI 1", "the loop waits: CI 1", 2, since("ci", 29*time.Minute), ""}},
		{"until is true", waits + "," + goes, "first", state(object{"open": true, "done": true}), ago("ci", time.Minute), result{rules.Continue, "on", "Go on", "", 3, nil, ""}},
		{"its when is false", waits + "," + goes, "first", state(object{}), ago("ci", time.Minute), result{rules.Continue, "on", "Go on", "", 3, nil, ""}},
		{"for is over", waits + "," + over + "," + goes, "first", state(object{"open": true}), ago("ci", 30*time.Minute), result{rules.Stop, "late", "it took too long", "the loop ends here: it took too long", 0, nil, ""}},
		{"for is over and no rule reads it", waits + "," + goes, "first", state(object{"open": true}), ago("ci", 30*time.Minute), result{rules.Continue, "on", "Go on", "", 3, nil, ""}},
		{"a rule above has read waited", `{name: early, when: tired, stop: never},` + waits + `,{name: late, when: tired, stop: it took too long}`, "first", state(object{"open": true}), ago("ci", 30*time.Minute),
			result{rules.Stop, "late", "it took too long", "the loop ends here: it took too long", 0, nil, ""}},
		{"waited is false otherwise", waits + "," + over + "," + goes, "first", state(object{"open": true, "done": true}), ago("ci", 30*time.Minute), result{rules.Continue, "on", "Go on", "", 3, nil, ""}},
		{"a rule that waited steps aside for the next wait", waits + `,{name: next, wait: Next, until: s.done, for: 1h}`, "first", state(object{"open": true}), ago("ci", 30*time.Minute),
			result{rules.Wait, "next", "Next", "the loop waits: Next", 2, map[string]time.Duration{"ci": 30 * time.Minute, "next": 0}, ""}},
		{"a stop above it", stops + "," + waits, "first", state(object{"n": 3, "open": true}), ago("ci", time.Minute), result{rules.Stop, "enough", "enough", "the loop ends here: enough", 0, nil, ""}},
		{"an undecided stop above it", stops + "," + waits, "first", unusable("/n"), ago("ci", time.Minute),
			result{rules.Stop, "enough", "the rule enough is undecided: s.json: s.n expected integer, got string", "the rule enough is undecided: s.json: s.n expected integer, got string", 2, since("ci", time.Minute), rules.FaultFact}},
		{"until is unusable", `{name: ci, wait: CI, until: s.done, for: 30m},` + goes, "first", unusable("/done"), ago("ci", time.Minute), result{rules.Stop, "ci", undecided, undecided, 2, since("ci", time.Minute), rules.FaultFact}},
		{"until reads what is missing", `{name: ci, wait: CI, until: gone == "ok", for: 30m},` + goes, "first", state(object{}), fresh, result{rules.Wait, "ci", "CI", "the loop waits: CI", 2, since("ci", 0), ""}},
		{"until is a list, of which all must hold", `{name: ci, wait: CI, until: [s.done, s.open], for: 30m},` + goes, "first", state(object{"done": true}), fresh, result{rules.Wait, "ci", "CI", "the loop waits: CI", 2, since("ci", 0), ""}},
		{"below what continues, with gate: all", goes + "," + waits, "all", state(object{"open": true}), fresh, result{rules.Continue, "on", "Go on", "", 3, nil, ""}},
		{"above it, with gate: all", waits + "," + goes, "all", state(object{"open": true}), fresh, result{rules.Wait, "ci", "CI 1", "the loop waits: CI 1", 2, since("ci", 0), ""}},
		{"a notice", `{name: ci, wait: CI, until: s.done, for: 30m, notice: CI is slow}`, "first", state(object{}), fresh, result{rules.Wait, "ci", "CI", "CI is slow", 2, since("ci", 0), ""}},
		{"with an effect that cannot be made", `{name: ci, wait: CI, until: s.done, for: 30m, then: [{set: "s.n = s.gone"}]}`, "first", state(object{}), fresh,
			result{rules.Stop, "ci", "its effects could not be evaluated: set: s.n = s.gone: the schema wants integer, the value is nil", "rule ci: set: s.n = s.gone: the schema wants integer, the value is nil", 2, nil, rules.FaultRule}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := load(t, files{"policy.yaml": "ralph: 1\ngate: " + tt.gate + `
facts:
  s: {json: s.json, default: {}, schema: {properties: {n: {type: integer, default: 1}, open: {type: boolean, default: false}, done: {type: boolean, default: false}, gone: {type: integer}}}}
  gone: {text: gone.txt}
let: {tired: waited and s.open}
rules: [` + tt.rules + "]\n"})
			v := p.Eval(t.Context(), tt.world, rules.Options{Time: at, Memory: again(t, tt.memory)})
			got := result{v.Action, v.Rule, v.Reason, seen(v), v.Memory.Streak, nil, v.Cause}
			for rule, from := range again(t, v.Memory).Waits {
				if got.Waits == nil {
					got.Waits = map[string]time.Duration{}
				}
				got.Waits[rule] = at.Sub(from)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if w := v.Wait; (w != nil) != (v.Action == rules.Wait) || w != nil && (w.Every != time.Minute || !v.Changed || v.Success) {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A prompt ends a wait. A user who sends one sees what the next wait is for again.
func TestWaitEndsWithTheTurn(t *testing.T) {
	p := load(t, files{"policy.yaml": "ralph: 1\nrules: [{name: ci, wait: CI, until: 'exists(\"done\")', every: 10s, for: 1h}]\n"})
	at, o := today(), rules.Options{Turn: "t1"}
	for _, step := range []struct {
		after time.Duration
		turn  string
		want  time.Duration // that it has waited
		by    string
	}{{0, "t1", 0, "ci"}, {time.Minute, "t1", time.Minute, "ci"}, {2 * time.Minute, "t2", 0, "ci"}, {63 * time.Minute, "t2", 0, ""}} {
		o.Time, o.Turn = at.Add(step.after), step.turn
		v := p.Eval(t.Context(), &world{}, o)
		if o.Memory = v.Memory; v.Rule != step.by {
			t.Fatalf("after %s: %q, want %q", step.after, v.Rule, step.by)
		}
		if v.Wait == nil {
			continue
		}
		if diff := cmp.Diff(&rules.Waiting{Since: o.Time.Add(-step.want), Until: o.Time.Add(time.Hour - step.want), Every: 10 * time.Second}, v.Wait); diff != "" {
			t.Errorf("after %s (-want +got)\n%s", step.after, diff)
		}
	}
}

// Awaits evaluates until alone.
func TestAwaits(t *testing.T) {
	p := load(t, files{"policy.yaml": `ralph: 1
facts:
  dear: {exec: [make, test]}
  s: {json: s.json, schema: {properties: {done: {type: boolean, default: false}}}}
rules:
  - {name: ci, when: dear.code == 0, wait: CI, until: s.done, for: 1h}
  - {name: on, continue: Go on}
`})
	missing, broken := rules.Value{Status: rules.Missing, Quiet: true}, rules.Value{Status: rules.Invalid, Problem: "is no JSON"}
	for _, tt := range []struct {
		name string
		rule string
		s    rules.Value
		want bool
	}{
		{"not yet", "ci", is(object{"done": false}), true},
		{"now", "ci", is(object{"done": true}), false},
		{"a missing file", "ci", missing, true},
		{"a file that cannot be used", "ci", broken, false},
		{"a rule that does not wait", "on", is(object{}), false},
		{"no rule", "nosuch", is(object{}), false},
	} {
		w := &world{facts: map[string]rules.Value{"s": tt.s}} // asked for dear, it fails the test
		if got := p.Awaits(t.Context(), w, rules.Options{}, tt.rule); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if new(rules.Program).Awaits(t.Context(), nil, rules.Options{}, "ci") {
		t.Error("no policy waits")
	}
}
