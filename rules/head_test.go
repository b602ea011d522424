package rules_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// A policy whose own when is not true evaluates no rule, reads no fact and leaves its memory unchanged; one whose own
// when cannot be evaluated lets the agent stop, which is reported.
func TestOwnWhen(t *testing.T) {
	for _, tt := range []struct {
		name     string
		when     string
		said     string
		idle     bool
		facts    int // that it reads itself
		problems []string
	}{
		{name: "true", when: `session_id startsWith "s"`, said: "continue go: on"},
		{name: "false", when: `session_id == "other"`, said: "stop: the policy is not for this event: its when is not true", idle: true},
		{name: "a list of which one is false", when: `[session_id != "", stop_hook_active]`, said: "stop: the policy is not for this event: its when is not true", idle: true},
		{name: "params", when: `mode == "fast"`, said: "stop: the policy is not for this event: its when is not true", idle: true},
		{name: "a function of the project", when: `exists("here")`, said: "continue go: on"},
		{
			name: "cannot be evaluated", when: `int(session_id) > 0`,
			said:     "stop: the policy's own when could not be evaluated: policy.yaml:4:7: int(session_id) > 0: int(…) cannot read \"s-1\"",
			problems: []string{"the policy's own when could not be evaluated: policy.yaml:4:7: int(session_id) > 0: int(…) cannot read \"s-1\""},
		},
		{
			name: "something unusable", when: `off.x == 1`, facts: 1,
			said:     "stop: the policy's own when could not be evaluated: off is invalid: off.json is cut",
			problems: []string{"the policy's own when could not be evaluated: off is invalid: off.json is cut"},
		},
		{
			name: "something that is not approved", when: `ok(it)`, facts: 1,
			said:     "stop: the policy's own when could not be evaluated: it: x is not approved",
			problems: []string{"the policy's own when could not be evaluated: it: x is not approved"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{
				facts: map[string]rules.Value{
					"state": is(object{"n": 1}), "off": {Status: rules.Invalid, Path: "off.json", Problem: "is cut"}, "it": {Status: rules.Withheld, Problem: "is not approved"},
				},
				names: map[string]any{"session_id": "s-1", "exists": func(path string) bool { return path == "here" }},
			}
			p := load(t, policy("params: {mode: {enum: [slow, fast], default: slow}}\n\nwhen: "+tt.when+`
facts: {state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}, off: {json: off.json, schema: {properties: {x: {}}}}, it: {exec: [x]}}
rules:
  - {name: go, when: state.n == 1, continue: "on"}
finally:
  - {log: done}
`))
			v := w.explain(p)
			if diff := cmp.Diff(tt.said, said(v)); diff != "" {
				t.Errorf("it says (-want +got)\n%s", diff)
			}
			tried := len(v.Trace.Steps) > 0
			if runs := strings.HasPrefix(tt.said, "continue"); (v.Cause.Untried()) != tt.idle || tried != runs || (len(v.Finally) > 0) != runs || v.Changed != (runs || len(tt.problems) > 0) || len(v.Trace.Facts) > tt.facts != runs {
				t.Errorf("aside: %s, steps %v, finally %v, asked for %v", v.Cause, outcomes(v), v.Finally, w.asked)
			}
			if diff := cmp.Diff(tt.problems, reported(v)); diff != "" {
				t.Errorf("problems (-want +got)\n%s", diff)
			}
			if v.Trace.When == nil || len(v.Trace.When.Operands) == 0 {
				t.Errorf("the trace shows %+v", v.Trace.When)
			}
		})
	}
}

// The head of a policy is loaded without the rest, and only if it is surely whole.
// An event that passes it finds the rest, with all that is wrong there.
func TestLazy(t *testing.T) {
	const rest = "rules: [{name: go, continue: on}]\n"
	for _, tt := range []struct {
		name string
		text string
		set  map[string]string
		head bool
	}{
		{name: "a when", text: "ralph: 1\nwhen: stop_hook_active\n" + rest, head: true},
		{name: "comments and empty lines", text: "# a\nralph: 1\n\n# rules: none yet\nwhen: stop_hook_active # b\n\n" + rest, head: true},
		{name: "a block over lines", text: "ralph: 1\ndescription: |\n  rules: are rules\n\n  when: ever\nwhen: |-\n  stop_hook_active or\n\n  session_id == \"x\"\n" + rest, head: true},
		{name: "carriage returns", text: "ralph: 1\r\nwhen: stop_hook_active\r\n\r\n" + strings.ReplaceAll(rest, "\n", "\r\n"), head: true},
		{name: "rules are not looked at", text: "ralph: 1\nwhen: stop_hook_active\nfacts: {a: {json: b}}\nrules: [{name: go, when: unknown, continue: on}]\n", head: true},
		{name: "a fact that is broken", text: "ralph: 1\nwhen: stop_hook_active\nfacts: {a: {jsn: b}}\n" + rest},
		{name: "params and what they are set to", text: "ralph: 1\nparams: {on: {type: boolean, default: true}}\nwhen: on\n" + rest, set: map[string]string{"on": "false"}, head: true},
		{name: "no when", text: "ralph: 1\n" + rest},
		{name: "no rules", text: "ralph: 1\nwhen: stop_hook_active\n"},
		{name: "a when that is broken", text: "ralph: 1\nwhen: stop_hook\n" + rest},
		{name: "a when that reads a fact", text: "ralph: 1\nwhen: stop_hook_active and missing(a)\nfacts: {a: {text: b}}\n" + rest, head: true},
		{name: "a loop", text: "ralph: 1\nloop: {state: a}\nfacts: {a: {text: b}}\n" + rest, head: true},
		{name: "a param that there is not", text: "ralph: 1\nwhen: stop_hook_active\n" + rest, set: map[string]string{"on": "x"}},
		{name: "events behind the rules", text: "ralph: 1\nwhen: stop_hook_active\n" + rest + "events: [SubagentStop]\n"},
		{name: "a quoted key", text: "ralph: 1\nwhen: stop_hook_active\n\"rules\": []\n" + rest},
		{name: "one line", text: "{ralph: 1, when: stop_hook_active, rules: []}"},
		{name: "a document behind", text: "ralph: 1\nwhen: stop_hook_active\n" + rest + "---\nralph: 1\n"},
		{name: "another version", text: "ralph: 2\nwhen: stop_hook_active\n" + rest},
		{name: "nothing", text: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := files{"policy.yaml": tt.text}.fs()
			whole, want := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{Set: tt.set})
			lazy, got := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{Set: tt.set, Lazy: true})
			if head := lazy != nil && lazy.HasOnlyHead(); head != tt.head {
				t.Fatalf("only the head is loaded: %t", head)
			}
			if !tt.head {
				if diff := cmp.Diff(want.Err(), got.Err(), cmp.Comparer(sameError)); diff != "" {
					t.Errorf("it says (-at once +lazy)\n%s", diff)
				}
				return
			}
			if got != nil || !(&world{}).eval(lazy).Cause.Untried() {
				t.Errorf("it is not idle in a world without anything, or there are findings:\n%s", got.Format())
			}
			w := &world{names: map[string]any{"stop_hook_active": true}}
			if strings.Contains(tt.text, "loop:") {
				w.facts = map[string]rules.Value{"a": is("x")}
			}
			v := decided(w.eval(lazy))
			if whole != nil {
				if diff := cmp.Diff(decided(w.eval(whole)), v); diff != "" {
					t.Errorf("it decides (-at once +lazy)\n%s", diff)
				}
				return
			}
			lines := strings.Split(want.Err().Error(), "\n")
			problem := "the policy cannot be used: " + lines[0]
			if len(lines) > 1 {
				problem += fmt.Sprintf(" (and %d more)", len(lines)-1)
			}
			broken := &rules.Verdict{Cause: "rule", Reason: "the policy cannot be used", Problems: problems(problem)}
			if diff := cmp.Diff(broken, v); diff != "" {
				t.Errorf("it decides (-want +got)\n%s", diff)
			}
		})
	}
	if p, diags := rules.Load(t.Context(), files{}.fs(), "policy.yaml", rules.Config{Lazy: true}); p != nil || !errors.Is(diags.Err(), fs.ErrNotExist) {
		t.Errorf("no file: %v, %s", p, diags.Format())
	}
}

// What the embedding program adds and allows holds for the head too.
func TestLazyConfig(t *testing.T) {
	f := policy("when: deployed(\"x\")\nrules: [{name: go, continue: \"on\"}]\n").fs()
	asked := 0
	cfg := rules.Config{Lazy: true, Functions: []rules.Function{{Name: "deployed", Func: func(string) bool { asked++; return true }}}}
	p, diags := rules.Load(t.Context(), f, "policy.yaml", cfg)
	if p == nil || !p.HasOnlyHead() {
		t.Fatalf("it is loaded at once:\n%s", diags.Format())
	}
	v := p.Eval(t.Context(), rules.Values(map[string]any{"sesion_id": "s"}), rules.Options{})
	if diff := cmp.Diff("continue go: on", said(v)); diff != "" || asked != 1 {
		t.Errorf("deployed was called %d times (-want +got)\n%s", asked, diff)
	}
	if len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Text, "sesion_id") {
		t.Errorf("the value that nothing asks for is not reported: %v", v.Problems)
	}
	cfg.Allow = []rules.Capabilities{{}}
	if p, diags := rules.Load(t.Context(), f, "policy.yaml", cfg); p != nil || !strings.Contains(diags.Format(), "[not-allowed]") {
		t.Errorf("the when may use what is not allowed:\n%s", diags.Format())
	}
}

func sameError(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// A lazy program decides like one that was loaded at once, and gathers the same.
func FuzzLazy(f *testing.F) {
	src, err := fs.ReadFile(examples.FS, "system3/system3.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Add([]byte("ralph: 1\nprefix: a\nevents: [Stop, SubagentStop]\nwhen: [stop_hook_active, exists(\"a\")]\nrules:\n  - name: a\n    stop: b\n"))
	f.Add([]byte("ralph: 1\nwhen: \"stop_hook_active\nrules: x\"\nrules: []\n"))
	f.Add([]byte("ralph: 1\nwhen: &a stop_hook_active\nrules: [{name: *a}]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		fsys := files{"policy.yaml": string(src)}.fs()
		whole, diags := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{Shipped: examples.FS})
		lazy, lazyDiags := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{Shipped: examples.FS, Lazy: true})
		if (lazy == nil) != (lazyDiags.Err() != nil) || lazy == nil && whole != nil {
			t.Fatalf("at once:\n%s\nlazily:\n%s", diags.Format(), lazyDiags.Format())
		}
		if lazy == nil {
			return
		}
		for _, active := range []bool{false, true} {
			decide := func(p *rules.Program) (*rules.Verdict, []string) {
				w := &world{names: map[string]any{"stop_hook_active": active}}
				v := w.eval(p)
				v.Trace, v.Cost = rules.Trace{}, rules.Budget{}
				return v, w.asked
			}
			got, asked := decide(lazy)
			if whole == nil {
				continue // which is reported once the policy is for an event
			}
			want, wantAsked := decide(whole)
			if diff := cmp.Diff([]any{want, wantAsked}, []any{got, asked}); diff != "" {
				t.Errorf("stop_hook_active %t (-at once +lazy)\n%s", active, diff)
			}
		}
		if whole == nil {
			return
		}
		if diff := cmp.Diff([]any{whole.Name, whole.Description, whole.Prefix, whole.Events, whole.Gate}, []any{lazy.Name, lazy.Description, lazy.Prefix, lazy.Events, lazy.Gate}); diff != "" {
			t.Errorf("(-at once +lazy)\n%s", diff)
		}
	})
}
