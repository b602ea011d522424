package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/rules"
)

const endPolicy = `ralph: 1
events: [Stop, UserPromptSubmit]
when: host != "other"
loop: {state: todo, on: settings.on, owner: settings.owner}
facts:
  todo:
    json: todo.json
    schema: {properties: {left: {type: integer, minimum: 0, default: 1}, as: {type: string, default: ""}, note: {type: string, default: ""}, gone: {type: integer}}}
  settings: {json: settings.json, default: {on: true, owner: ""}, schema: {properties: {on: {type: boolean, default: true}, owner: {type: string, default: ""}}}}
limits: {continuations: 3}
rules:
  - {name: done, when: todo.left == 0, stop: done, success: true}
  - {name: enough, when: todo.as == "enough", stop: it is enough}
  - {name: silent, when: todo.as == "silent", stop: "${todo.note}"}
  - {name: own, when: todo.as == "own", stop: it is enough, notice: The policy's own words}
  - {name: broken, when: todo.as == "broken", continue: go on, then: [{set: "todo.left = todo.gone"}]}
  - {name: next, when: todo.as == "" and todo.left > 0, continue: go on}
`

// Every kind of end: where the policy had continued in this streak, one that is not a success and was not asked for is
// shown, once.
func TestEndsAreSeen(t *testing.T) {
	p := load(t, files{"policy.yaml": endPolicy})
	todo := func(as string) map[string]rules.Value {
		return map[string]rules.Value{"todo": is(object{"left": 1, "as": as, "note": ""})}
	}
	settings := func(on bool, owner string) map[string]rules.Value {
		return with1(&world{facts: todo("")}, "settings", is(object{"on": on, "owner": owner})).facts
	}
	for _, tt := range []struct {
		name  string
		facts map[string]rules.Value
		names object
		with  rules.Options
		want  string // "" is none
		fresh string // what is shown where the policy had not continued, if it is the same
	}{
		{name: "it continues", facts: todo("")},
		{name: "a success", facts: map[string]rules.Value{"todo": is(object{"left": 0})}},
		{name: "a stop rule", facts: todo("enough"), want: "the loop ends here: it is enough"},
		{name: "a stop rule without a reason", facts: todo("silent"), want: "the loop ends here: the rule silent stops the agent"},
		{name: "a stop rule with a notice", facts: todo("own"), want: "The policy's own words", fresh: "The policy's own words"},
		{name: "no rule", facts: todo("none"), want: "the loop ends here: no rule of the policy continues"},
		{name: "a limit", facts: todo(""), with: rules.Options{Memory: rules.Memory{Streak: 3}}, want: "the loop ends here: the limit of 3 continuations per prompt is reached"},
		{name: "the file is removed", want: "the loop ends here: the loop's file is gone: todo.json"},
		{name: "another session's", facts: settings(true, "s2"),
			want: "the loop todo.json belongs to session s2; run `ralph start tasks --session s1` to move it to this session", fresh: "the loop todo.json belongs to session s2; run `ralph start tasks --session s1` to move it to this session"},
		{name: "switched off in the file", facts: settings(false, ""), want: "the loop is switched off: settings.on"},
		{name: "the policy is for other events", facts: todo(""), names: object{"host": "other"}, want: "the policy is not for this event: its when is not true"},
		{name: "a fault of a stop rule", facts: map[string]rules.Value{"todo": with(is(object{}), "/left")},
			want: "the rule done is undecided: todo.json: todo.left expected integer, got string", fresh: "the rule done is undecided: todo.json: todo.left expected integer, got string"},
		{name: "a fault of an effect", facts: todo("broken"), want: "rule broken: set: todo.left = todo.gone: the schema wants integer, the value is nil", fresh: "rule broken: set: todo.left = todo.gone: the schema wants integer, the value is nil"},

		// Asked for.
		{name: "ralph stop", facts: todo(""), with: rules.Options{Stopped: true}},
		{name: "ralph stop that moved the file", with: rules.Options{Project: rules.Memory{Reset: today()}}},
		{name: "a prompt", facts: todo("enough"), with: rules.Options{NewTurn: true}},
		{name: "the event of a prompt", facts: todo("enough"), with: rules.Options{Event: "UserPromptSubmit"}},
		{name: "in a run, which prints its end", facts: todo("enough"), with: rules.Options{Run: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := object{"session_id": "s1"}
			for k, v := range tt.names {
				names[k] = v
			}
			w := &world{facts: tt.facts, names: names}
			o := tt.with
			o.Time, o.Policy = today(), "tasks"
			if o.Memory.Streak == 0 {
				o.Memory.Streak = 2
			}
			o.Memory.Loop = &rules.LoopInfo{Name: "todo.json", State: "todo.json"}
			v := p.Eval(t.Context(), w, o)
			if diff := cmp.Diff(tt.want, seen(v)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if v.Action == rules.Stop && tt.with.Event == "" && v.Memory.Streak > 0 {
				o.Memory = v.Memory
				if again := seen(p.Eval(t.Context(), w, o)); again != "" {
					t.Errorf("it is shown again: %s", again)
				}
			}
			o.Memory = rules.Memory{}
			if got := seen(p.Eval(t.Context(), w, o)); got != tt.fresh {
				t.Errorf("without a continuation %q is shown, want %q", got, tt.fresh)
			}
		})
	}
}

// seen is what a session sees of a verdict.
func seen(v *rules.Verdict) (text string) {
	if v.Show {
		text += v.Reason
	}
	for _, part := range v.Parts {
		if !part.Seen {
			text += part.Notice
		}
	}
	for _, p := range v.Problems {
		if !p.Seen {
			text += p.Text
		}
	}
	return text
}

// A success needs a box: where a checklist that the rule read has no file, no box, or none in the section that the rule
// names, the stop is no success, and says why.
func TestSuccessNeedsABox(t *testing.T) {
	const head = `ralph: 1
params: {part: {type: string, default: checklist}}
facts:
  todo: {checklist: TODO.md}
  more: {checklist: MORE.md, default: []}
  open: {json: open.json, schema: {properties: {list: {type: array, default: []}}}}
let: {mine: 'filter(todo, .section == part)'}
rules:
`
	box := func(section string, done bool) object {
		return object{"text": "Build it", "done": done, "section": section, "depth": 0, "tags": []any{}, "source": "", "line": 1}
	}
	list := func(items ...any) map[string]rules.Value {
		return map[string]rules.Value{"todo": is(append([]any{}, items...)), "open": is(object{"list": []any{}})}
	}
	for _, tt := range []struct {
		name, when string
		with       string // other lines of the policy
		facts      map[string]rules.Value
		want       string // "" is a success
	}{
		{name: "all boxes are ticked", when: `all(todo, .done)`, facts: list(box("", true))},
		{name: "no box", when: `all(todo, .done)`, facts: list(), want: "TODO.md has no box"},
		{name: "no box, and that is fine", when: `all(todo, .done)`, with: "    empty: ok\n", facts: list()},
		{name: "no file", when: `all(more, .done)`, facts: list(), want: "there is no MORE.md"},
		{name: "a part of the list", when: `all(filter(todo, .section == "Tests"), .done)`, facts: list(box("Tests", true), box("", false))},
		{name: "no such section", when: `all(filter(todo, .section == "tests"), .done)`, facts: list(box("Tests", false)),
			want: `TODO.md has no box in a section named "tests"; did you mean "Tests"?`},
		{name: "no such section, by a let and a param", when: `all(mine, .done)`, facts: list(box("Checklist", false)),
			want: `TODO.md has no box in a section named "checklist"; did you mean "Checklist"?`},
		{name: "a let that another rule read", when: `none(mine, not .done)`, with: "  - {name: above, when: len(mine) > 5, stop: many}\n", facts: list(),
			want: "TODO.md has no box"},
		{name: "only another rule reads it", when: `said("DONE")`, with: "  - {name: above, when: len(mine) > 5, stop: many}\n", facts: list()},
		{name: "it is not reached", when: `said("DONE") or all(todo, .done)`, facts: list()},
		{name: "a list of another source", when: `len(open.list) == 0`, facts: list()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done := "  - name: done\n    when: " + tt.when + "\n    stop: all is done\n    success: true\n"
			if strings.Contains(tt.with, "above") {
				done = tt.with + done
			} else {
				done += tt.with
			}
			v := (&world{facts: tt.facts, names: object{"said": func(string) bool { return true }}}).eval(load(t, files{"policy.yaml": head + done}))
			want := &rules.Verdict{Rule: "done", Reason: "all is done", Success: tt.want == ""}
			if tt.want != "" {
				want.Reason += ", but " + tt.want
				want.Problems = problems("the rule done is no success: " + tt.want)
			}
			if diff := cmp.Diff(want, v, cmpopts.IgnoreFields(rules.Verdict{}, "Pos", "Parts", "Memory", "Cost", "Trace")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
