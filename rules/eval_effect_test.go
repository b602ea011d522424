package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

const effectFacts = `
facts:
  state:
    json: state.json
    inline: true
    schema:
      properties:
        n: {type: integer, default: 0}
        half: {type: number, default: 0}
        phase: {enum: [plan, execution], default: plan}
        text: {type: string, default: ""}
        tags: {type: array, items: {type: string}, default: []}
        maybe: {type: string}
        anything: {}
        meta: {properties: {a: {type: integer, default: 1}}}
        specs: {type: array, default: [], items: {properties: {name: {type: string, default: ""}, status: {type: string, default: ""}}}}
  plan: {frontmatter: plan.md, default: {}, schema: {properties: {active: {type: boolean, default: true}}}}
  open: {json: open.json}
  gone: {json: gone.json}
  bad: {json: bad.json}
rules:
  - name: change
    when: loop.total < 5
    continue: Go on
    log: changed
    then: [`

func effectWorld() *world {
	return &world{facts: map[string]rules.Value{
		"state": is(object{"n": 3, "half": 0.5, "phase": "plan", "text": "t", "tags": []any{"a"}, "specs": []any{
			object{"name": "one", "status": "open"}, object{"name": "two", "status": "open"},
		}}),
		"open": is(object{"list": []any{1, 2}, "o": object{"k": "v"}, "key": "k"}),
		"bad":  invalid,
	}}
}

// A set evaluates to the path into the document and the new value. A set that has no place is left out, as the trace
// shows; one whose value or place is unknown stops the loop with a notice. A file that does not exist begins as the
// default of its fact; one that cannot be read does not.
func TestSetCreates(t *testing.T) {
	const policy = `facts: {state: {json: "new/state.json", default: {phase: plan}, schema: {properties: {phase: {type: string}, n: {type: integer, default: 0}}}}}
rules: [{name: change, continue: on, then: [set: state.n = state.n + 1]}]`
	absent := rules.Value{Status: rules.Missing, Quiet: true, Path: "new/state.json", Problem: "does not exist"}
	for name, c := range map[string]struct {
		change func(*rules.Value)
		stop   bool
	}{
		"there is no file":       {change: func(*rules.Value) {}},
		"it cannot be read":      {func(v *rules.Value) { v.Quiet = false }, true},
		"it has no front matter": {func(v *rules.Value) { v.Version = "v1" }, true},
	} {
		v := absent
		c.change(&v)
		got := decide(t, policy, &world{facts: map[string]rules.Value{"state": v}})
		if c.stop {
			if got.Cause != rules.FaultRule || !strings.Contains(got.Reason, "state is missing, so there is nothing to change") {
				t.Errorf("%s: %s %q", name, got.Action, got.Reason)
			}
			continue
		}
		want := []rules.Effect{{Kind: rules.SetEffect, Fact: "state", Source: "json", File: "new/state.json", Create: true, Path: []any{"n"}, Value: 1}}
		if diff := cmp.Diff(want, got.Parts[0].Effects); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestSet(t *testing.T) {
	tests := []struct {
		set   string
		path  []any
		old   any
		value any
		skip  string
		stop  string
	}{
		{set: "state.n = n + 1", path: []any{"n"}, old: 3, value: 4},
		{set: "n = 7", path: []any{"n"}, old: 3, value: 7},
		{set: "  state.n   =  7 ", path: []any{"n"}, old: 3, value: 7},
		{set: "state.half = 1", path: []any{"half"}, old: 0.5, value: 1},
		{set: "state.half = n / 2", path: []any{"half"}, old: 0.5, value: 1.5},
		{set: `state.text = "a = b == c"`, path: []any{"text"}, old: "t", value: "a = b == c"},
		{set: `state.text = string(n == 3)`, path: []any{"text"}, old: "t", value: "true"},
		{set: `state.anything = {"at": now().Unix()}`, path: []any{"anything"}, value: object{"at": int(today().Unix())}},
		{set: `state.text = duration("90s")`, path: []any{"text"}, old: "t", value: "1m30s"},
		{set: `state.phase = "execution"`, path: []any{"phase"}, old: "plan", value: "execution"},
		{set: `state.tags = concat(tags, ["b"])`, path: []any{"tags"}, old: []any{"a"}, value: []any{"a", "b"}},
		{set: `state.tags = map(1..2, string(#))`, path: []any{"tags"}, old: []any{"a"}, value: []any{"1", "2"}},
		{set: `state.anything = 1..3`, path: []any{"anything"}, value: []any{1, 2, 3}},
		{set: `state.anything = {"a": [n]}`, path: []any{"anything"}, value: object{"a": []any{3}}},
		{set: "state.maybe = nil", path: []any{"maybe"}},
		{set: `state.specs[findIndex(specs, .name == "two")].status = "done"`, path: []any{"specs", 1, "status"}, old: "open", value: "done"},
		{set: `state.specs[0]["status"] = "done"`, path: []any{"specs", 0, "status"}, old: "open", value: "done"},
		{set: `open.list[1] = open.o.k`, path: []any{"list", 1}, old: 2, value: "v"},
		{set: `open.o[open.key] = 1`, path: []any{"o", "k"}, old: "v", value: 1},
		{set: `open.new = {"list": []}`, path: []any{"new"}, value: object{"list": []any{}}},
		{set: `open["a=b"] = 1`, path: []any{"a=b"}, value: 1},

		{set: `state.specs[findIndex(specs, .name == "three")].status = "done"`, skip: "the index is nil"},
		{set: `state.specs[2].status = "done"`, skip: "index 2 is out of range, the list has 2"},
		{set: `state.specs[-1].status = "done"`, skip: "index -1 is out of range, the list has 2"},
		{set: `state.meta.a = 2`, skip: `there is no object at "/meta"`},
		{set: `open.o[0] = 2`, skip: `there is no list at "/o"`},

		{set: `gone.n = 1`, stop: "gone is missing, so there is nothing to change"},
		{set: `bad.n = 1`, stop: "bad is invalid, so it cannot be changed: bad.json it is not JSON"},
		{set: `state.n = gone.n`, stop: "the value is unknown: gone is missing: gone.json there is no file"},
		{set: `state.specs[gone.n].status = "x"`, stop: "the index is unknown: gone is missing: gone.json there is no file"},
		{set: `open.list[1.5] = 1`, stop: "the index is 1.5, not a whole number or a name"},
		{set: `state.n = open.key`, stop: "the schema wants integer, the value is a string"},
		{set: `state.n = open.nothing`, stop: "the schema wants integer, the value is nil"},
		{set: `state.tags = open.o`, stop: "the schema wants array of string, the value is an object"},
		{set: `state.half = 1 / 0`, stop: "a number cannot be stored in a file"},
		{set: `state.n = int("x")`, stop: `the value is unknown: policy.yaml:27:28: int("x"): int(…) cannot read "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.set, func(t *testing.T) {
			v := decide(t, effectFacts+"set: "+quoted(tt.set)+"]\n", effectWorld())
			if tt.stop != "" {
				problem := "set: " + strings.TrimSpace(tt.set) + ": " + tt.stop
				want := &rules.Verdict{
					Rule: "change", Cause: "rule", Reason: "its effects could not be evaluated: " + problem,
					Problems: problems("rule change: " + problem),
				}
				if diff := cmp.Diff(want, decided(v)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			part := rules.Part{Rule: "change", Log: "changed"}
			if tt.skip == "" {
				file := map[byte]string{'s': "state", ' ': "state", 'n': "state", 'o': "open"}[tt.set[0]]
				part.Effects = []rules.Effect{{Kind: rules.SetEffect, Fact: file, Source: "json", File: file + ".json", Version: "v1", Path: tt.path, Old: tt.old, Value: tt.value}}
			} else if diff := cmp.Diff([]string{"rule change: set: " + tt.set + " is left out: " + tt.skip}, v.Trace.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]rules.Part{part}, v.Parts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v.Action != rules.Continue {
				t.Errorf("it stopped: %v", v.Problems)
			}
		})
	}
}

// What does not exist need not be removed; a file that cannot be read can be.
func TestDeleteAndArchive(t *testing.T) {
	tests := []struct {
		effect string
		want   []rules.Effect
		warn   string
	}{
		{effect: "delete: state", want: []rules.Effect{{Kind: rules.DeleteEffect, Fact: "state", Source: "json", File: "state.json", Version: "v1"}}},
		{effect: "archive: bad", want: []rules.Effect{{Kind: rules.ArchiveEffect, Fact: "bad", Source: "json", File: "bad.json"}}},
		{effect: "delete: gone", warn: "rule change: delete: gone is left out: gone is missing"},
		{effect: "archive: plan", warn: "rule change: archive: plan is left out: plan is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.effect, func(t *testing.T) {
			v := decide(t, effectFacts+tt.effect+"]\n", effectWorld())
			if diff := cmp.Diff([]rules.Part{{Rule: "change", Log: "changed", Effects: tt.want}}, v.Parts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var warn []string
			if tt.warn != "" {
				warn = []string{tt.warn}
			}
			if diff := cmp.Diff(warn, v.Trace.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// Whens, texts and values see the facts as gathered, whatever was set before.
func TestEffectsSeeFactsAsGathered(t *testing.T) {
	v := decide(t, effectFacts+`{set: state.n = n + 1}, {set: state.n = n + 1}, {set: state.half = n}]
    notice: ${n}
`, effectWorld())
	var values []any
	for _, e := range v.Parts[0].Effects {
		values = append(values, e.Value)
	}
	if diff := cmp.Diff([]any{4, 4, 3}, values); diff != "" || v.Parts[0].Notice != "3" {
		t.Errorf("notice %q (-want +got):\n%s", v.Parts[0].Notice, diff)
	}
}
