package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// gatePolicy has rules of every verb, in an order in which each matters.
const gatePolicy = `
limits: {total: 100}
facts:
  s: {json: s.json, inline: true, schema: {properties: {stop1: {type: boolean, default: false}, stop2: {type: boolean, default: false}, go1: {type: boolean, default: false}, go2: {type: boolean, default: false}}}}
rules:
  - {name: mark, log: marked}
  - {name: stop1, when: stop1, stop: first stop, log: stopped}
  - {name: one, when: go1, continue: One, notice: one}
  - {name: told, note: by the way}
  - {name: two, when: go2, continue: Two, notice: two}
  - {name: stop2, when: stop2, stop: second stop, log: stopped, then: [{delete: s}]}
  - {name: last, when: go1, continue: Last}
`

// The first rule with a deciding verb that holds decides; with gate: all, evaluation goes
// past a continue until a stop holds, which only ends it. Rules that decide nothing join
// whatever verdict follows.
func TestGates(t *testing.T) {
	tests := []struct {
		gate, holds string
		want        string
		parts       string
	}{
		{"first", "", "stop", "mark told"},
		{"first", "stop1 go1", "stop stop1: first stop", "mark stop1"},
		{"first", "go1 go2", "continue one: One", "mark one"},
		{"first", "go2 stop2", "continue two: Two", "mark told two"},
		{"first", "stop2", "stop stop2: second stop", "mark told stop2"},
		{"all", "", "stop", "mark told"},
		{"all", "stop1 go1", "stop stop1: first stop", "mark stop1"},
		{"all", "go1 go2", "continue one: One\n\nTwo\n\nLast", "mark one told two last"},
		{"all", "go2 stop2 go1", "continue one: One\n\nTwo", "mark one told two"},
		{"all", "go2 stop2", "continue two: Two", "mark told two"},
		{"all", "stop2", "stop stop2: second stop", "mark told stop2"},
	}
	for _, tt := range tests {
		t.Run(tt.gate+" "+tt.holds, func(t *testing.T) {
			s := object{"stop1": false, "stop2": false, "go1": false, "go2": false}
			for _, name := range strings.Fields(tt.holds) {
				s[name] = true
			}
			v := decide(t, "gate: "+tt.gate+gatePolicy, &world{facts: map[string]rules.Value{"s": is(s)}})
			if diff := cmp.Diff(tt.want, said(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var parts []string
			for _, p := range v.Parts {
				parts = append(parts, p.Rule)
			}
			if diff := cmp.Diff(tt.parts, strings.Join(parts, " ")); diff != "" {
				t.Errorf("rules of the verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// A prompt is not decided: only note rules and rules without a verb run, and without
// effects, since a block there would erase what the user wrote.
func TestPromptsOnlyNote(t *testing.T) {
	p := load(t, policy(`
events: [Stop, UserPromptSubmit]
limits: {total: 100}
facts:
  s: {json: s.json, schema: {properties: {n: {type: integer, default: 0}}}}
rules:
  - {name: stop, when: s.n > 5, stop: never asked}
  - {name: mark, log: marked, then: [{set: s.n = 1}]}
  - {name: go, continue: never said}
  - {name: status, note: "at ${s.n}"}
finally:
  - log: never
`))
	w := &world{facts: map[string]rules.Value{"s": is(object{"n": 3})}}
	v := p.Eval(t.Context(), w, rules.Options{Event: "UserPromptSubmit"})
	want := &rules.Verdict{Parts: []rules.Part{{Rule: "mark", Log: "marked"}, {Rule: "status", Note: "at 3"}}}
	if diff := cmp.Diff(want, decided(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v := p.Eval(t.Context(), w, rules.Options{Event: "SubagentStop"}); v.Cause != rules.NotListed || v.Reason != "the policy does not decide SubagentStop" {
		t.Error("the events are not those of the policy")
	}
}

// Limits are tested when a rule has decided to continue. A bound of N allows N; beyond
// it, the agent stops with a notice, without the effects of any rule, and without the
// continuation's log line and notice.
func TestLimits(t *testing.T) {
	const text = `
limits: {continuations: 3, repeats: 2, elapsed: 1h, total: 10}
progress: index
facts:
  s: {json: s.json, inline: true, schema: {properties: {index: {type: integer, default: 0}, go: {type: boolean, default: true}}}}
rules:
  - {name: mark, log: marked}
  - {name: change, log: never shown, then: [{set: s.index = 1}]}
  - {name: go, when: go, continue: Go on, log: never shown, notice: never shown}
`
	tests := []struct {
		name   string
		memory rules.Memory
		want   string
		told   string
	}{
		{"a first stop", rules.Memory{}, "continue go: Go on", ""},
		{"the last of three", rules.Memory{Streak: 2, Same: 1, Total: 9}, "continue go: Go on", ""},
		{"three are enough", rules.Memory{Streak: 3}, "stop limits.continuations", "the limit of 3 continuations per prompt is reached"},
		{"ten are enough", rules.Memory{Total: 10}, "stop limits.total", "the limit of 10 continuations per session is reached"},
		{"one without progress", rules.Memory{Streak: 1, Same: 1, Progress: "[1]"}, "continue go: Go on", ""},
		{"two without progress", rules.Memory{Streak: 2, Same: 2, Progress: "[1]"}, "stop limits.repeats", "no progress in 2 continuations (limits.repeats)"},
		{"two of the same, whatever it is", rules.Memory{Streak: 2, Same: 2, Progress: "="}, "stop limits.repeats", "no progress in 2 continuations (limits.repeats)"},
		{"two, but it moved", rules.Memory{Streak: 2, Same: 2, Progress: "[0]"}, "continue go: Go on", ""},
		{"an hour", rules.Memory{Streak: 1, Since: today().Add(-time.Hour)}, "stop limits.elapsed", "this streak has lasted 1h0m0s, the limit is 1h0m0s"},
		{"an hour before the streak", rules.Memory{Since: today().Add(-time.Hour)}, "continue go: Go on", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{memory: tt.memory, facts: map[string]rules.Value{"s": is(object{"index": 1, "go": true})}}
			v := decide(t, text, w)
			got := v.Action.String() + " " + v.Rule
			var told []string
			want := []rules.Part{{Rule: "mark", Log: "marked"}}
			if tt.told == "" {
				got += ": " + v.Reason
				want = append(want,
					rules.Part{Rule: "change", Log: "never shown", Effects: []rules.Effect{{Kind: rules.SetEffect, Fact: "s", Source: "json", File: "s.json", Version: "v1", Path: []any{"index"}, Old: 1, Value: 1}}},
					rules.Part{Rule: "go", Log: "never shown", Notice: "never shown"})
			} else {
				told = []string{"the loop ends here: " + tt.told}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, v.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(told, reported(v)); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if v.Progress != "[1]" {
				t.Errorf("progress is %q", v.Progress)
			}
		})
	}
	w := &world{memory: rules.Memory{Streak: 99}, facts: map[string]rules.Value{"s": is(object{"index": 1, "go": false})}}
	if v := decide(t, text, w); v.Bound != "" {
		t.Errorf("a limit was tested though no rule continued: %s", v.Bound)
	}
}

// loop.repeats counts the latest continuations with the progress of now; progress
// that is unknown counts as unchanged, since a loop must not run on because its
// measure broke.
func TestRepeats(t *testing.T) {
	tests := []struct {
		name     string
		progress string
		memory   rules.Memory
		fact     rules.Value
		want     string
	}{
		{"a first stop", "s.n", rules.Memory{Progress: "[1]", Same: 3}, is(object{"n": 1}), "0 [1]"},
		{"nothing moved", "s.n", rules.Memory{Streak: 1, Progress: "[1]", Same: 1}, is(object{"n": 1}), "1 [1]"},
		{"it moved", "s.n", rules.Memory{Streak: 5, Progress: "[1]", Same: 3}, is(object{"n": 2}), "0 [2]"},
		{"several", "[s.n, s.t]", rules.Memory{Streak: 5, Progress: `[1,"a"]`, Same: 3}, is(object{"n": 1, "t": "a"}), `3 [1,"a"]`},
		{"one expression of several", `"[s.n, s.t]"`, rules.Memory{Streak: 5, Progress: `[[1,"a"]]`, Same: 3}, is(object{"n": 1, "t": "a"}), `3 [[1,"a"]]`},
		{"unknown", "s.n", rules.Memory{Streak: 5, Progress: "[1]", Same: 3}, missing, "3 [1]"},
		{"broken", "s.n", rules.Memory{Streak: 5, Progress: "[1]", Same: 3}, with(is(object{}), "/n"), "3 [1]"},
		{"none stated", "", rules.Memory{Streak: 5, Same: 5}, missing, "5 "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			progress := ""
			if tt.progress != "" {
				progress = "progress: " + tt.progress
			}
			v := decide(t, progress+`
facts:
  s: {json: s.json, schema: {properties: {n: {type: integer, default: 0}, t: {type: string, default: ""}}}}
limits: {total: 100}
rules:
  - {name: go, continue: "${loop.repeats}"}
`, &world{memory: tt.memory, facts: map[string]rules.Value{"s": tt.fact}})
			if diff := cmp.Diff(tt.want, v.Reason+" "+v.Progress); diff != "" {
				t.Errorf("repeats and progress (-want +got):\n%s", diff)
			}
		})
	}
}

// The fingerprint of long progress is short, and differs wherever the values do.
func TestFingerprintOfLongProgress(t *testing.T) {
	p := load(t, policy("progress: f\nfacts: {f: {text: f.txt}}\nlimits: {total: 9}\nrules: [{name: go, continue: Go on}]\n"))
	fingerprint := func(f string) string {
		return (&world{facts: map[string]rules.Value{"f": is(f)}}).eval(p).Progress
	}
	long := strings.Repeat("x", 100_000)
	if a, b := fingerprint(long+"a"), fingerprint(long+"b"); a == b || len(a) > 300 || a != fingerprint(long+"a") {
		t.Errorf("%q\n%q", a, b)
	}
}

// A rule that was in enough verdicts is skipped, before its when is evaluated.
func TestUnlessRepeated(t *testing.T) {
	const text = `
facts:
  s: {text: s.txt}
rules:
  - {name: ask, when: ok(s), unless_repeated: {times: 2, within: 5m, per: prompt}, continue: Go on}
`
	for given, want := range map[int]string{0: "ask: holds", 1: "ask: holds", 2: "ask: stepped aside", 7: "ask: stepped aside"} {
		w := &world{given: map[string]int{"ask": given}, facts: map[string]rules.Value{"s": is("x")}}
		v := decide(t, text, w)
		if diff := cmp.Diff([]string{want}, outcomes(v)); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", given, diff)
		}
		if asked := len(w.asked) > 0; asked != (given < 2) {
			t.Errorf("after %d it asked for %v", given, w.asked)
		}
	}
	r := load(t, policy(text)).Rules()[0]
	if diff := cmp.Diff(&rules.Unless{Times: 2, Within: 5 * time.Minute, Per: "prompt"}, r.Unless); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Facts that cannot be used are reported, unless they are only missing or some rule tests
// for that.
func TestFactsThatCannotBeUsedAreTold(t *testing.T) {
	const text = `
facts:
  a: {json: a.json, schema: {properties: {n: {type: integer, default: 0}}}}
  b: {json: b.json, default: {}, schema: {properties: {n: {type: integer, default: 0}}}}
  c: {json: c.json, schema: {properties: {n: {type: integer, default: 0}}}}
  unread: {json: d.json}
  e: {json: e.json, default: {}}
let:
  readable: not invalid(c)
rules:
  - {name: probe, when: a.n == 1 or b.n == 1 or readable, log: "${problem(a)}"}
  - {name: show, when: invalid(e), notice: "e ${problem(e)}"}
`
	loud := rules.Value{Status: rules.Missing, Problem: "is a folder"}
	tests := []struct {
		name  string
		facts map[string]rules.Value
		want  []string
	}{
		{"plain absence", nil, nil},
		{"an invalid fact that only a string asks about", map[string]rules.Value{"a": invalid}, []string{"a: a.json it is not JSON"}},
		{"an invalid fact that a rule asks about, through a let", map[string]rules.Value{"c": invalid}, []string{"c: c.json it is not JSON"}},
		{"one whose problem a notice shows", map[string]rules.Value{"e": invalid}, nil},
		{"missing for a reason", map[string]rules.Value{"a": loud}, []string{"a: a.json is a folder"}},
		{"missing for a reason, with a default", map[string]rules.Value{"b": loud}, []string{"b: b.json is a folder"}},
		{"invalid, with a default", map[string]rules.Value{"b": invalid}, []string{"b: b.json it is not JSON"}},
		{"one that nobody reads", map[string]rules.Value{"unread": invalid}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, reported(decide(t, text, &world{facts: tt.facts}))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// finally runs after any verdict that was reached without an error, best effort.
func TestFinally(t *testing.T) {
	const text = `
facts:
  s: {json: s.json, schema: {properties: {on: {type: boolean, default: true}, dir: {type: string, default: tmp}}}}
  gone: {json: gone.json, schema: {properties: {on: {type: boolean, default: true}}}}
rules:
  - {name: stop, stop: fine}
finally:
  - {name: tidy, when: s.on, prune: {glob: "${s.dir}/*.md", older: 5m}}
  - {when: gone.on, log: never}
  - {when: "int('x') == 1", log: never}
  - {when: not s.on, log: never}
  - log: "at the end of ${s.dir}"
  - log: "${s.on ? '' : 'never'}"
  - prune: {glob: "${gone.on}/*.md", older: 5m}
`
	v := decide(t, text, &world{facts: map[string]rules.Value{"s": is(object{"on": true, "dir": "tmp"})}})
	want := []rules.Effect{
		{Kind: rules.PruneEffect, Glob: "tmp/*.md", Older: 5 * time.Minute},
		{Kind: rules.LogEffect, Text: "at the end of tmp"},
	}
	if diff := cmp.Diff(want, v.Finally); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(v.Trace.Warnings) != 2 || len(v.Problems) != 0 {
		t.Errorf("warnings %q, told %q", v.Trace.Warnings, v.Problems)
	}
}
