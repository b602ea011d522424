package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{name: "a limit", facts: todo(""), with: rules.Options{Memory: rules.Memory{Streak: 3}}, want: "the loop ends here: the limit of 3 continuations in a streak is reached"},
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
