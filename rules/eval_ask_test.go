package rules_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// A rule with ask is a stop whose reason is a question, which the user sees.
func TestAsk(t *testing.T) {
	type asked struct {
		Action  rules.Action
		By      string
		Text    string
		Seen    string // by the user
		Streak  int
		Private bool
		Fault   rules.Cause
	}
	const question = "Which of the two?"
	state := func(fields object) *world {
		return &world{facts: map[string]rules.Value{"s": is(fields), "list": is([]any{})}, names: map[string]any{"last_assistant_message": "secret"}}
	}
	unusable := func(pointer string) *world {
		w := state(object{})
		w.facts["s"] = with(w.facts["s"], pointer)
		return w
	}
	stops := `{name: enough, when: s.n > 2, stop: enough}`
	asks := `{name: which, when: s.open, ask: "Which of the two?"}`
	goes := `{name: on, when: s.n < 9, continue: Go on}`
	for _, tt := range []struct {
		name  string
		rules string
		gate  string
		world *world
		with  rules.Options
		want  asked
	}{
		{"a question", stops + "," + asks + "," + goes, "first", state(object{"n": 1, "open": true}), rules.Options{}, asked{rules.Ask, "which", question, question, 0, false, ""}},
		{"none", stops + "," + asks + "," + goes, "first", state(object{"n": 1, "open": false}), rules.Options{}, asked{rules.Continue, "on", "Go on", "", 3, false, ""}},
		{"a stop above it", stops + "," + asks, "first", state(object{"n": 3, "open": true}), rules.Options{}, asked{rules.Stop, "enough", "enough", "the loop ends here: enough", 0, false, ""}},
		{"an undecided stop above it", stops + "," + asks, "first", unusable("/n"), rules.Options{},
			asked{rules.Stop, "enough", "the rule enough is undecided: s.json: s.n expected integer, got string", "the rule enough is undecided: s.json: s.n expected integer, got string", 2, false, rules.FaultFact}},
		{"it is undecided", asks + "," + goes, "first", unusable("/open"), rules.Options{},
			asked{rules.Stop, "which", "the rule which is undecided: s.json: s.open expected integer, got string", "the rule which is undecided: s.json: s.open expected integer, got string", 2, false, rules.FaultFact}},
		{"below what continues, with gate: all", goes + "," + asks, "all", state(object{"n": 1, "open": true}), rules.Options{}, asked{rules.Continue, "on", "Go on", "", 3, false, ""}},
		{"above it", asks + "," + goes, "all", state(object{"n": 1, "open": true}), rules.Options{}, asked{rules.Ask, "which", question, question, 0, false, ""}},
		{"with a notice", `{name: which, ask: "Which?", notice: See PLAN.md}`, "first", state(object{}), rules.Options{}, asked{rules.Ask, "which", "Which?", "Which?\nSee PLAN.md", 0, false, ""}},
		{"with a text of nothing", `{name: which, ask: "${s.text}"}`, "first", state(object{"text": ""}), rules.Options{}, asked{rules.Ask, "which", "The rule which asks you", "The rule which asks you", 0, false, ""}},
		{"with words of the agent", `{name: which, ask: "${last_assistant_message}?"}`, "first", state(object{}), rules.Options{}, asked{rules.Ask, "which", "secret?", "secret?", 0, true, ""}},
		{"with control characters", `{name: which, ask: "${s.text}"}`, "first", state(object{"text": "a\x1b[2Jb"}), rules.Options{}, asked{rules.Ask, "which", `a\x1b[2Jb`, `a\x1b[2Jb`, 0, false, ""}},
		{"in a run, which shows it as its end", asks, "first", state(object{"open": true}), rules.Options{Run: true}, asked{rules.Ask, "which", question, "", 0, false, ""}},
		{"at a prompt", asks, "first", state(object{"open": true}), rules.Options{Event: "UserPromptSubmit"}, asked{rules.Stop, "", "", "", 2, false, ""}},
		{"with an effect that cannot be made", `{name: which, when: s.open, ask: "Which?", then: [{set: "s.n = s.gone"}]}`, "first", state(object{"open": true}), rules.Options{},
			asked{rules.Stop, "which", "its effects could not be evaluated: set: s.n = s.gone: the schema wants integer, the value is nil", "rule which: set: s.n = s.gone: the schema wants integer, the value is nil", 2, false, rules.FaultRule}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := load(t, files{"policy.yaml": "ralph: 1\nevents: [Stop, UserPromptSubmit]\ngate: " + tt.gate + `
facts:
  s: {json: s.json, default: {}, schema: {properties: {n: {type: integer, default: 1}, open: {type: boolean, default: false}, text: {type: string, default: ""}, gone: {type: integer}}}}
rules: [` + tt.rules + "]\n"})
			o := tt.with
			o.Time, o.Memory = today(), rules.Memory{Streak: 2}
			for range 2 { // a question is shown each time that it is asked
				v := p.Eval(t.Context(), tt.world, o)
				got := asked{v.Action, v.Rule, v.Reason, seen(v), v.Memory.Streak, v.Private, v.Cause}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if v.Action != rules.Ask {
					break
				}
				o.Memory = v.Memory
				tt.want.Streak = 0
			}
		})
	}
}

// The answer is empty if a person gave none, and private.
func TestAnswer(t *testing.T) {
	p := load(t, files{"policy.yaml": `ralph: 1
limits: {repeats: 3}
rules:
  - {name: answered, when: answer != "", continue: "Use ${answer}."}
  - {name: which, ask: "Which of the two?"}
`})
	for answer, want := range map[string]string{"": "ask: Which of the two?", "the first": "continue: Use the first."} {
		w := &world{names: map[string]any{"answer": answer}}
		v := w.explain(p)
		if got := v.Action.String() + ": " + v.Reason; got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
		input := rules.Input{Name: "answer", Cut: true}
		if answer == "" { // its size is all of it
			input = rules.Input{Name: "answer", Value: ""}
		}
		if diff := cmp.Diff([]rules.Input{input}, v.Trace.Inputs); diff != "" {
			t.Errorf("%q: the trace has (-want +got)\n%s", answer, diff)
		}
	}
}

func TestActionWords(t *testing.T) {
	all := []rules.Action{rules.Stop, rules.Continue, rules.Ask, rules.Wait}
	b, err := json.Marshal(all)
	if err != nil || string(b) != `["stop","continue","ask","wait"]` {
		t.Fatalf("%s, %v", b, err)
	}
	var back []rules.Action
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, back); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
