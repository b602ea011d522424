package rules_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// Every name that ralph documents can be used, has its zero value in an empty world, and
// is read by its whole path.
func TestNames(t *testing.T) {
	uses := map[string]string{
		"said": `said("x")`, "promised": `promised("x")`, "mentions": `mentions("x")`, "exists": `exists("x")`, "isdir": `isdir("x")`, "anyfile": `anyfile("*")`,
		"which": `which("x")`, "now": "now()", "transcript.turns": "len(transcript.turns(3))", "transcript.passed": `transcript.passed("x")`,
		"transcript.passed_since_edit": `transcript.passed_since_edit("x")`,
		"loop.repeats":                 "loop.repeats",
	}
	for _, n := range rules.Names() {
		name, doc := n[0], n[1]
		t.Run(name, func(t *testing.T) {
			if doc == "" || !strings.HasSuffix(doc, ".") {
				t.Errorf("its description is %q", doc)
			}
			use, ok := uses[name]
			if !ok {
				use = name
			}
			if strings.HasPrefix(name, "start.") {
				t.Skip("known only below loop.start")
			}
			w := &world{}
			v := load(t, policy("rules: [{name: a, note: '${"+use+"}'}]\n")).Eval(t.Context(), w, rules.Options{})
			if len(v.Trace.Warnings) > 0 {
				t.Error(v.Trace.Warnings)
			}
			asked := []string{name}
			if name == "now" || name == "session_id" || name == "waited" || strings.HasPrefix(name, "loop.") { // they come with the event, or the world does not note it
				asked = nil
			}
			if diff := cmp.Diff(asked, w.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			switch note := v.Parts[0].Note; note {
			case "", "false", "0", "0s", "0001-01-01T00:00:00Z":
			default:
				t.Errorf("its zero value is %q", note)
			}
		})
	}
}

// Names have the values that Facts returns, and each is gathered once.
func TestNamesOfTheWorld(t *testing.T) {
	w := &world{names: map[string]any{
		"session_id": "s1", "stop_hook_active": true, "env.HOME": "/home/me", "transcript.tokens": 7,
		"background_tasks": []any{object{"id": "1", "type": "shell", "status": "running", "description": ""}},
		"said":             func(s string) bool { return s == "DONE" },
		"transcript.turns": func(n int) []any { return []any{object{"role": "user", "text": "hello"}}[:min(n, 1)] },
		"hook.raw":         object{"deep": object{"er": 3}},
	}}
	v := decide(t, `
rules:
  - name: a
    when: stop_hook_active and stop_hook_active and session_id == "s1" and any(background_tasks, .status == "running") and said("DONE") and not said("x")
    note: ${env.HOME} ${env["NONE"]}${transcript.tokens} ${transcript.turns(2)[0].text} ${hook.raw.deep.er} ${now().Year()} ${now() == now()}
`, w)
	if diff := cmp.Diff("/home/me 7 hello 3 2026 true", v.Parts[0].Note); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	seen := map[string]int{}
	for _, name := range w.asked {
		if seen[name]++; seen[name] > 1 {
			t.Errorf("%s was asked for twice", name)
		}
	}
}

// The age of a file is counted from the time of the event.
func TestAge(t *testing.T) {
	now := today()
	for _, tt := range []struct {
		changed time.Time
		want    string
	}{{now.Add(-90 * time.Minute), "1h30m0s"}, {now.Add(time.Minute), "0s"}, {time.Time{}, "0s"}} {
		v := decide(t, "facts: {f: {text: f.txt}}\nrules: [{name: a, note: '${age(f)} ${now()}'}]\n", &world{
			facts: map[string]rules.Value{"f": {V: "x", ModTime: tt.changed}},
		})
		if diff := cmp.Diff(tt.want+" 2026-01-02T03:04:05Z", v.Parts[0].Note); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A trace shows an operand with its not, and the value of both.
func TestTraceOfNot(t *testing.T) {
	const text = `
facts:
  s: {json: s.json, inline: true, schema: {properties: {done: {type: boolean, default: false}, id: {type: string, default: s1}}}}
let:
  open: not done
rules:
  - name: a
    when: id not in ["s1"]
    stop: never
  - name: b
    when: not done and !(id == "s2") and not not done
    stop: never
  - name: c
    when: 'not (done or id != "s1") and (not done ? not open : done)'
    stop: never
`
	p := load(t, policy(text))
	w := &world{facts: map[string]rules.Value{"s": is(object{"done": false, "id": "s1"})}}
	type operand struct {
		Text  string
		Value any
	}
	trace := w.explain(p).Trace
	outline := slices.DeleteFunc(p.Outline(), func(o rules.Outline) bool { return o.Kind != "rule" })
	got := map[string][]operand{}
	for i, s := range trace.Steps {
		var texts []string
		for _, o := range s.Operands {
			got[s.Rule] = append(got[s.Rule], operand{o.Text, o.Value})
			texts = append(texts, o.Text)
		}
		all := outline[i].Operands
		if !slices.Contains(texts, s.Because) || slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(all, text) }) {
			t.Errorf("%s: because of %q, of %q, and the rule has %q", s.Rule, s.Because, texts, all)
		}
	}
	if diff := cmp.Diff(map[string][]operand{
		"a": {{`id not in ["s1"]`, false}},
		"b": {{"not done", true}, {`!(id == "s2")`, true}, {"not not done", false}},
		"c": {{"done", false}, {`id != "s1"`, false}, {"not done", true}, {"not open", false}},
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A trace has every operand that was reached, what it read and what it was; of
// prompts, transcripts and the environment it has no more than their size.
func TestTrace(t *testing.T) {
	const text = `
facts:
  s: {json: s.json, inline: true, schema: {properties: {n: {type: integer, default: 0}, xs: {type: array, default: [], items: {type: integer}}}}}
  d: {text: d.txt, default: stood in}
let:
  asked: trim(prompt)
  much: n * 2
rules:
  - name: a
    when: n > 1 and len(xs) > much and s.n == 3
    stop: never
  - name: b
    when: asked == "secret" or cut(prompt, 3) == "xyz" or env.TOKEN == "t" or d == "x"
    stop: never
`
	p := load(t, policy(text))
	w := func() *world {
		return &world{facts: map[string]rules.Value{"s": is(object{"n": 3, "xs": []any{1, 2}})}, names: map[string]any{"prompt": " hidden prompt ", "env.TOKEN": "hidden token"}}
	}
	short := w().eval(p).Trace
	want := rules.Trace{Steps: []*rules.Step{
		{Rule: "a", Outcome: rules.No, Because: "len(xs) > much", Pos: rules.Pos{File: "policy.yaml", Line: 10, Col: 5}},
		{Rule: "b", Outcome: rules.No, Because: `d == "x"`, Pos: rules.Pos{File: "policy.yaml", Line: 13, Col: 5}},
	}}
	if diff := cmp.Diff(want, short); diff != "" {
		t.Errorf("short (-want +got):\n%s", diff)
	}

	trace := w().explain(p).Trace
	var operands []string
	for _, s := range trace.Steps {
		for _, o := range s.Operands {
			line := s.Rule + ": " + o.Text + " is " + oneLine(t, o.Value) + ";"
			for _, r := range o.Reads {
				line += " " + r.Name + "=" + oneLine(t, r.Value) + r.State
			}
			operands = append(operands, line)
		}
	}
	if diff := cmp.Diff([]string{
		`a: n > 1 is true; n=3`,
		`a: len(xs) > much is false; xs=[1,2] much=6 len(xs)=2`,
		`b: asked == "secret" is false; asked="(13 bytes)"`,
		`b: cut(prompt, 3) == "xyz" is false; prompt="(15 bytes)" cut(prompt, 3)="(5 bytes)"`,
		`b: env.TOKEN == "t" is false; env.TOKEN="(12 bytes)"`,
		`b: d == "x" is false; d="stood in"`,
	}, operands); diff != "" {
		t.Errorf("operands (-want +got):\n%s", diff)
	}
	for i := range trace.Facts {
		trace.Facts[i].Start, trace.Facts[i].Took = 0, 0
	}
	if diff := cmp.Diff([]rules.FactRead{
		{Name: "s", Source: "json", Path: "s.json"},
		{Name: "d", Source: "text", Path: "d.txt", Status: rules.Missing, Problem: "there is no file", Defaulted: true},
	}, trace.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(trace)
	if err != nil || strings.Contains(string(b), "hidden") {
		t.Errorf("%v: %s", err, b)
	}
	clear := p.Eval(t.Context(), w(), rules.Options{Trace: rules.TraceClear})
	if b, _ := json.Marshal(clear.Trace); !strings.Contains(string(b), "hidden prompt") {
		t.Errorf("the clear trace hides it too: %s", b)
	}
}

func oneLine(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
