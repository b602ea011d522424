package rules_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// A policy whose own when is not true tries no rule, reads no fact and asks for no
// memory; one whose own when cannot be worked out lets the agent stop and tells.
func TestOwnWhen(t *testing.T) {
	for _, tt := range []struct {
		name string
		when string
		said string
		idle bool
		told []string
	}{
		{name: "true", when: `session_id startsWith "s"`, said: "continue go: on"},
		{name: "false", when: `session_id == "other"`, said: "stop: the policy is not for this event: its when is not true", idle: true},
		{name: "a list of which one is false", when: `[session_id != "", stop_hook_active]`, said: "stop: the policy is not for this event: its when is not true", idle: true},
		{name: "params", when: `mode == "fast"`, said: "stop: the policy is not for this event: its when is not true", idle: true},
		{name: "a function of the project", when: `exists("here")`, said: "continue go: on"},
		{
			name: "cannot be worked out", when: `int(session_id) > 0`,
			said: "stop: the policy's own when could not be worked out: policy.yaml:4:7: int(session_id) > 0: int(…) cannot read \"s-1\"",
			told: []string{"the policy's own when could not be worked out: policy.yaml:4:7: int(session_id) > 0: int(…) cannot read \"s-1\""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{
				facts: map[string]rules.Value{"state": is(object{"n": 1})},
				names: map[string]any{"session_id": "s-1", "exists": func(path string) bool { return path == "here" }},
			}
			p := load(t, policy("params: {mode: {enum: [slow, fast], default: slow}}\n\nwhen: "+tt.when+`
facts: {state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}}
rules:
  - {name: go, when: state.n == 1, continue: "on"}
finally:
  - {log: done}
`))
			v := p.Explain(t.Context(), w)
			if diff := cmp.Diff(tt.said, said(v)); diff != "" {
				t.Errorf("it says (-want +got)\n%s", diff)
			}
			tried := len(v.Trace.Steps) > 0
			if runs := strings.HasPrefix(tt.said, "continue"); v.Idle != tt.idle || tried != runs || (len(v.Finally) > 0) != runs || slices.Contains(w.asked, "row") != runs || len(v.Trace.Facts) > 0 != runs {
				t.Errorf("idle: %t, steps %v, finally %v, asked for %v", v.Idle, outcomes(v), v.Finally, w.asked)
			}
			if diff := cmp.Diff(tt.told, v.Problems); diff != "" {
				t.Errorf("told (-want +got)\n%s", diff)
			}
			if v.Trace.When == nil || len(v.Trace.When.Operands) == 0 {
				t.Errorf("the trace shows %+v", v.Trace.When)
			}
		})
	}
}

// The head of a policy is read without the rest, and only if it is surely whole.
func TestLoadHead(t *testing.T) {
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
		{name: "what stands behind is not looked at", text: "ralph: 1\nwhen: stop_hook_active\nfacts: {a: {jsn: b}}\nrules: [{name: go, when: unknown, continue: on}]\n", head: true},
		{name: "params and what they are set to", text: "ralph: 1\nparams: {on: {type: boolean, default: true}}\nwhen: on\n" + rest, set: map[string]string{"on": "false"}, head: true},
		{name: "no when", text: "ralph: 1\n" + rest},
		{name: "no rules", text: "ralph: 1\nwhen: stop_hook_active\n"},
		{name: "a when that is broken", text: "ralph: 1\nwhen: stop_hook\n" + rest},
		{name: "a when that reads a fact", text: "ralph: 1\nwhen: ok(a)\nfacts: {a: {text: b}}\n" + rest},
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
			cfg := rules.Config{Set: tt.set, LazyTexts: true}
			head, whole := rules.LoadHead(fsys, "policy.yaml", cfg)
			if (head != nil) != tt.head {
				t.Errorf("there is a head: %t", head != nil)
			}
			if head != nil && !head.Eval(t.Context(), &world{}).Idle {
				t.Error("it is not idle in a world where its when is not true")
			}
			_, got := whole()
			_, want := rules.Load(fsys, "policy.yaml", cfg)
			if diff := cmp.Diff(want.Format(), got.Format()); diff != "" {
				t.Errorf("the rest says (-Load +rest)\n%s", diff)
			}
		})
	}
	head, whole := rules.LoadHead(files{}.fs(), "policy.yaml", rules.Config{})
	if p, diags := whole(); head != nil || p != nil || !diags.HasErrors() {
		t.Errorf("no file: head %v, %s", head, diags.Format())
	}
}

// What a head says goes for the whole policy: where it is idle, so is that.
func FuzzLoadHead(f *testing.F) {
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
		head, whole := rules.LoadHead(fsys, "policy.yaml", rules.Config{Shipped: examples.FS, LazyTexts: true})
		if head == nil {
			return
		}
		p, _ := whole()
		if p == nil {
			return // which is told once the policy is for an event
		}
		if diff := cmp.Diff([]any{p.Name, p.Prefix, p.Events}, []any{head.Name, head.Prefix, head.Events}); diff != "" {
			t.Errorf("(-whole +head)\n%s", diff)
		}
		for _, active := range []bool{false, true} {
			w := &world{names: map[string]any{"stop_hook_active": active}}
			if got, want := head.Eval(t.Context(), w).Idle, p.Eval(t.Context(), w).Idle; got != want {
				t.Errorf("stop_hook_active %t: the head is idle: %t, the policy: %t", active, got, want)
			}
		}
	})
}
