package rules_test

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// A value of the memory is its default until a rule changes it; then it is what was
// remembered, in the memory that its per names. What the verdict reads is what was
// there before.
func TestRemember(t *testing.T) {
	p := load(t, policy(`
memory:
  rounds: {type: integer, default: 0}
  owner: {type: string, default: "", per: project}
  seen: {type: array, items: {type: string}, default: []}
limits: {repeats: 3}
rules:
  - name: enough
    when: rounds == 2
    stop: '${owner} after ${rounds} rounds saw ${join(seen, " ")}'
  - name: next
    continue: round ${rounds}
    then:
      - remember: rounds = rounds + 1
      - remember: owner = session_id
      - remember: seen = concat(seen, [session_id])
`))
	o := rules.Options{Time: today()}
	var lines []string
	for _, session := range []string{"a", "b", "c"} {
		v := p.Eval(t.Context(), rules.Values(map[string]any{"session_id": session}), o)
		lines = append(lines, said(v))
		o.Memory, o.Project = again(t, v.Memory), again(t, v.Project)
	}
	if diff := gocmp.Diff([]string{"continue next: round 0", "continue next: round 1", "stop enough: b after 2 rounds saw a b"}, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := gocmp.Diff(map[string]any{"rounds": 2, "seen": []any{"a", "b"}}, o.Memory.Values); diff != "" {
		t.Errorf("the session (-want +got)\n%s", diff)
	}
	if diff := gocmp.Diff(map[string]any{"owner": "b"}, o.Project.Values); diff != "" {
		t.Errorf("the project (-want +got)\n%s", diff)
	}
}

// A verdict reports which memories are others than before it.
func TestChangedMemories(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules string
		then  rules.Options // of a second event, with the memories after the first
		want  string        // of it
	}{
		{"nothing", "{name: end, stop: the end}", rules.Options{}, ""},
		{"another turn, which need not be stored", "{name: end, stop: the end}", rules.Options{Turn: "2"}, ""},
		{"another turn of a streak", "{name: go, continue: go on}", rules.Options{Turn: "2"}, "own session"},
		{"a continuation", "{name: go, continue: go on}", rules.Options{}, "own session"},
		{"a streak that ends", "{name: end, when: n > 0, stop: the end}, {name: go, continue: go on, then: [{remember: n = 1}]}", rules.Options{}, "own session"},
		{"a value of the session", "{name: end, stop: the end, then: [{remember: n = n + 1}]}", rules.Options{}, "own"},
		{"a value of the project", "{name: end, stop: the end, then: [{remember: ours = ours + 1}]}", rules.Options{}, "own project"},
		{"a verdict that counts in the project", "{name: end, stop: the end, unless_repeated: {times: 5, per: project}}", rules.Options{}, "own project"},
	} {
		p := load(t, policy("memory: {n: {type: integer, default: 0}, ours: {type: integer, default: 0, per: project}}\nrules: ["+c.rules+"]\n"))
		o := rules.Options{Time: today(), Turn: "1", Project: rules.Memory{Values: map[string]any{"ours": 1}}}
		v := p.Eval(t.Context(), rules.Values(nil), o)
		c.then.Time, c.then.Turn, c.then.Memory, c.then.Project, c.then.Session = o.Time, cmp.Or(c.then.Turn, o.Turn), v.Memory, v.Project, v.Session
		v = p.Eval(t.Context(), rules.Values(nil), c.then)
		var got []string
		for _, m := range []struct {
			name          string
			changed       bool
			before, after rules.Memory
		}{
			{"own", v.Changed, c.then.Memory, v.Memory}, {"project", v.ProjectChanged, c.then.Project, v.Project},
			{"session", v.SessionChanged, c.then.Session, v.Session},
		} {
			if m.changed {
				got = append(got, m.name)
			}
			if m.name != "own" && v.Changed && m.changed == reflect.DeepEqual(m.before, m.after) {
				t.Errorf("%s: the memory of the %s was %+v and is %+v, reported %v", c.name, m.name, m.before, m.after, m.changed)
			}
		}
		if diff := gocmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// again is a memory that went through its JSON form.
func again(t *testing.T, m rules.Memory) (out rules.Memory) {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A value that cannot be remembered makes the verdict a stop that says why, and nothing
// is remembered.
func TestRememberFailsSafe(t *testing.T) {
	const head = `
facts:
  gone: {json: gone.json, schema: {properties: {n: {type: integer}}}}
  open: {json: open.json}
memory:
  n: {type: integer, default: 0, maximum: 3}
  phase: {enum: [plan, build], default: plan}
  text: {type: string, default: ""}
rules:
  - {name: first, then: [{remember: text = "kept"}]}
  - {name: change, continue: on, then: [{remember: '`
	w := &world{facts: map[string]rules.Value{"open": is(object{"n": 7, "word": "x", "list": []any{1}})}}
	for effect, want := range map[string]string{
		`n = gone.n`:                     "the value is unknown: gone is missing: gone.json there is no file",
		`n = open.word`:                  "the schema wants integer, the value is a string",
		`n = open.n`:                     "is 7, expected at most 3",
		`phase = open.word`:              `is "x", expected one of`,
		`text = open.list`:               "the schema wants string, the value is an array",
		`text = repeat(open.word, 5000)`: "too large to remember (5002 bytes, the limit is 4096)",
	} {
		v := decide(t, head+effect+"'}]}\n", w)
		if v.Cause != rules.FaultRule || v.Action != rules.Stop || !strings.Contains(v.Reason, "remember: "+effect+": ") || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s, want %q", effect, said(v), want)
		}
		if len(v.Problems) == 0 || v.Memory.Values != nil || v.Changed {
			t.Errorf("%s: problems %q, memory %v", effect, v.Problems, v.Memory.Values)
		}
	}
}

// A value that an older version of the policy remembered and that this one does not allow
// counts as the default, and the user sees why. An undeclared value goes
// with the next change.
func TestRememberedByAnother(t *testing.T) {
	const text = `
memory:
  n: {type: integer, default: 1, maximum: 3}
  phase: {enum: [plan, build], default: plan}
limits: {repeats: 3}
rules: [{name: go, continue: '${n} ${phase}', then: [{remember: phase = "build"}]}]`
	for want, old := range map[string]any{"2 plan": 2, "1 plan": 4, "1 plan ": "word"} {
		w := &world{memory: rules.Memory{Values: map[string]any{"n": old, "phase": "gone", "other": true}}}
		v := decide(t, text, w)
		if got := v.Reason; got != strings.TrimSpace(want) {
			t.Errorf("%v: %q, want %q", old, got, want)
		}
		problems := strings.Join(reported(v), "\n")
		if !strings.Contains(problems, "the remembered value of phase does not fit its schema, so its default is used") || strings.Contains(problems, "value of n ") != (old != 2) {
			t.Errorf("%v: problems %q", old, problems)
		}
		if diff := gocmp.Diff(map[string]any{"n": old, "phase": "build"}, v.Memory.Values); diff != "" {
			t.Errorf("%v (-want +got)\n%s", old, diff)
		}
	}
}

// The same value again changes nothing, so nothing has to be stored. A limit and a stop
// without the rule remember nothing.
func TestRememberNothing(t *testing.T) {
	const text = `
memory: {word: {type: string, default: ""}}
limits: {continuations: 1}
rules:
  - {name: keep, then: [{remember: word = "%"}]}
  - {name: done, when: stop_hook_active, stop: done}
  - {name: go, when: not stop_hook_active, continue: on}`
	stop := map[string]any{"stop_hook_active": true}
	for name, c := range map[string]struct {
		word    string
		w       *world
		changed bool
		values  map[string]any
	}{
		"another value":       {"b", &world{names: stop, memory: rules.Memory{Values: map[string]any{"word": "a"}}}, true, map[string]any{"word": "b"}},
		"the same value":      {"a", &world{names: stop, memory: rules.Memory{Values: map[string]any{"word": "a"}}}, false, map[string]any{"word": "a"}},
		"the default":         {"", &world{names: stop}, false, nil},
		"a limit was reached": {"b", &world{memory: rules.Memory{Streak: 1, Total: 1}}, false, nil},
	} {
		v := decide(t, strings.Replace(text, "%", c.word, 1), c.w)
		if v.Changed != c.changed {
			t.Errorf("%s: changed is %v", name, v.Changed)
		}
		if diff := gocmp.Diff(c.values, v.Memory.Values); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A value computed from a private one is private in the memory too, and wherever it flows
// from there, until it is replaced.
func TestRememberPrivate(t *testing.T) {
	p := load(t, policy(`
memory: {words: {type: string, default: ""}, copy: {type: string, default: ""}, size: {type: integer, default: 0}}
limits: {repeats: 3}
rules:
  - {name: look, when: words != "", log: 'it was ${words}'}
  - name: go
    continue: on
    then:
      - remember: 'words = loop.continuations < 2 ? prompt : "free"'
      - remember: copy = words
      - remember: size = len(prompt)
`))
	o := rules.Options{Time: today(), Trace: rules.TraceFull}
	f := rules.Values(map[string]any{"prompt": "hunter2"})
	v := p.Eval(t.Context(), f, o)
	if diff := gocmp.Diff([]string{"words", "size"}, v.Memory.Private); diff != "" {
		t.Errorf("first (-want +got)\n%s", diff)
	}
	o.Memory = again(t, v.Memory)
	v = p.Eval(t.Context(), f, o)
	if diff := gocmp.Diff([]string{"words", "size", "copy"}, v.Memory.Private); diff != "" {
		t.Errorf("second (-want +got)\n%s", diff)
	}
	if !v.Parts[0].Private || v.Parts[0].Log != "it was hunter2" {
		t.Errorf("the log line counts as public: %+v", v.Parts[0])
	}
	shown, err := json.Marshal(v.Trace)
	if err != nil || strings.Contains(string(shown), "hunter2") {
		t.Errorf("a trace shows it: %v %s", err, shown)
	}
	o.Memory = again(t, v.Memory)
	v = p.Eval(t.Context(), f, o)
	if diff := gocmp.Diff([]string{"size", "copy"}, v.Memory.Private); diff != "" {
		t.Errorf("third (-want +got)\n%s", diff)
	}
}

// What is wrong with a declaration or an effect is found when the policy is loaded.
func TestMemoryFindings(t *testing.T) {
	for text, want := range map[string]string{
		`memory: {n: 3}`:                                   "2:13: the memory \"n\" needs a JSON Schema",
		`memory: {n: {type: integer}}`:                     "the memory \"n\" has no default",
		`memory: {n: {type: integer, default: x}}`:         "the default is \"x\", expected integer",
		`memory: {n: {default: 1, per: prompt}}`:           "per must be one of",
		`memory: {len: {default: 1}}`:                      `"len" is a built-in name`,
		`memory: {n: {default: 1}, a b: {default: 1}}`:     "cannot be used as a name",
		"facts: {n: {text: x}}\nmemory: {n: {default: 1}}": `the name "n" is already declared`,
	} {
		findings(t, text, want)
	}
	for effect, want := range map[string]string{
		`m = 1`:   `remember must name a value under memory; got "m"; those names are "n", "o"`,
		`n == 1`:  "remember must be an assignment",
		`n = "x"`: "the memory n takes integer; got a string",
		`o.a = 1`: `remember replaces all of "o", not one field`,
		`n = o.b`: `unknown field "b"`,
		`nn = 1`:  `did you mean "n"?`,
	} {
		findings(t, "memory: {n: {type: integer, default: 0}, o: {type: object, properties: {a: {type: integer, default: 0}}, default: {}}}\nrules: [{name: a, when: n > 0, stop: s, then: [{remember: '"+effect+"'}]}]", want)
	}
}

// findings asserts that a policy does not load, for this reason.
func findings(t *testing.T, text, want string) {
	t.Helper()
	_, diags := rules.Load(t.Context(), policy(text).fs(), "policy.yaml", rules.Config{})
	if diags.Err() == nil || !strings.Contains(diags.Format(), want) {
		t.Errorf("%s: want %q, got\n%s", text, want, diags.Format())
	}
}
