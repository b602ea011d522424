package rules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

type phase string

type task struct {
	Index int `json:"index"`
	Title string
	Next  *task `json:"next"`
}

type state struct {
	Phase phase  `json:"phase"`
	Done  int    `expr:"done"`
	Tasks []task `json:"tasks"`
	First *task  `json:"first"`
}

// TestValues says how values of a program are read.
func TestValues(t *testing.T) {
	const schema = `, schema: {properties: {done: {type: integer, default: 4}, phase: {enum: [plan, execution]}, inner: {default: {}, properties: {deep: {type: integer, default: 7}}}, items: {type: array, items: {properties: {n: {type: integer, default: 1}}}}}}`
	type values = map[string]any
	full := state{Phase: "execution", Done: 2, Tasks: []task{{Index: 1, Title: "a"}}}
	declared := rules.Options{Values: values{"v": state{}}}
	for _, c := range []struct {
		when, options string
		v             any
		want          string
		opts          rules.Options
	}{
		{`done == 2`, schema, values{"done": 2}, "true", rules.Options{}},
		{`done == 2`, schema, values{"done": 2.0}, "true", rules.Options{}},
		{`done + 1 == 3 and -done == -2 and sum([done, 1]) == 3`, schema, values{"done": 2.0}, "true", rules.Options{}},
		{`done == 2`, schema, values{"done": int64(2)}, "true", rules.Options{}},
		{`done == 4 and inner.deep == 7`, schema, values{}, "true", rules.Options{}},
		{`v.done == 4 and v.inner.deep == 7`, schema, values{"inner": values{}}, "true", rules.Options{}},
		{`sum(items, .n) == 3`, schema, values{"items": []any{values{}, values{"n": 2}}}, "true", rules.Options{}},
		{`done == 2`, schema, []byte(`{"done": "2"}`), "true", rules.Options{}},
		{`done == 4`, schema, json.RawMessage(`{}`), "true", rules.Options{}},
		{`done == 2`, schema, []byte(`{"done": "many"}`), "failed: rule a (line 3): v: done must be a whole number, and is \"many\"", rules.Options{}},
		{`done == 2`, schema, []byte(`{`), "failed", rules.Options{}},
		{`done == 2`, schema, values{"done": "2"}, "error: rules: value v.done must be a number, and is a text", rules.Options{}},
		{`phase == "plan"`, schema, values{"done": "2", "phase": "plan"}, "true", rules.Options{}},
		{`missing(v)`, schema, nil, "true", rules.Options{}},
		{`phase == "execution" and done == 2`, schema, state{Phase: "execution", Done: 2}, "false", rules.Options{}}, // JSON has no tag expr
		{`phase == "execution" and done == 4`, schema, &state{Phase: "execution"}, "true", rules.Options{}},
		{`v.done == 2 and v.tasks[0].index == 1 and any(v.tasks, .Title == "a" and .index < 2)`, "", full, "true", declared},
		{`done == 2 and tasks[0].index == 1`, ", inline: true", full, "true", declared},
		{`v.first.index == 1`, "", full, "false", declared},
		{`v.first?.next?.index == nil`, "", full, "true", declared},
		{`v.done == 2`, "", &full, "error: rules: value v must be of type rules_test.state, and is of type *rules_test.state", declared},
		{`v == 3`, "", 3, "true", rules.Options{}},
		{`v[0].n == 1`, "", []any{values{"n": 1}}, "true", rules.Options{}},
		{`"b" in v`, "", []string{"a", "b"}, "true", rules.Options{}},
	} {
		inline := ""
		if c.options == schema {
			inline = ", inline: true"
		}
		p := parse(t, fmt.Sprintf("ralph: 1\nfacts: {v: {value: a value%s%s}}\nrules: [{name: a, when: '%s', stop: x}]\n", c.options, inline, c.when), c.opts)
		v, err := p.Eval(t.Context(), rules.Input{Values: values{"v": c.v}})
		got := map[rules.Outcome]string{rules.Stopped: "true", rules.Idle: "false", rules.Failed: "failed: " + v.Reason}[v.Outcome]
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && (c.want != "failed" || v.Outcome != rules.Failed || err != nil) {
			t.Errorf("%s over %#v: %s, want %s", c.when, c.v, got, c.want)
		}
	}
	p := parse(t, "ralph: 1\nrules: [{name: a, when: n > 1 and twice(n) == 4, continue: x}]\n",
		rules.Options{Values: values{"n": 0}, Functions: values{"twice": func(n int) int { return 2 * n }}})
	if v, err := p.Eval(t.Context(), rules.Input{Values: values{"n": 2}}); v.Outcome != rules.Continued {
		t.Errorf("a value and a function: %v, %v", v.Outcome, err)
	}
	var missing *rules.ValueError
	if _, err := p.Eval(t.Context(), rules.Input{}); !errors.As(err, &missing) || missing.Name != "n" {
		t.Errorf("a value that is not given: %v", err)
	}
	p = parse(t, "ralph: 1\nfacts: {v: {value: a value"+schema+"}}\nrules: [{name: a, when: v.phase == 'plan', stop: x}, {name: b, when: v.phase == 'plan' and v.done == 1, stop: x}]\n")
	if v, err := p.Eval(t.Context(), rules.Input{Values: values{"v": values{"phase": "execution", "done": "2"}}}); v.Outcome != rules.Idle || err != nil {
		t.Errorf("a value of a wrong type that no condition needs: %v, %v", v.Outcome, err)
	}
}

// A map of the program is read, and never written.
func TestConcurrent(t *testing.T) {
	v := map[string]any{"done": 1}
	for _, opts := range []rules.Options{{}, {Lazy: true}} {
		p := parse(t, `ralph: 1
facts: {v: {value: a value, inline: true, schema: {properties: {done: {type: integer}, total: {type: integer, default: 5}}}}}
let: {open: total - done}
rules:
  - {name: a, when: open < 1, stop: x}
  - {name: b, when: done == 1 and open > 1, continue: '${open} ${env.HOME}'}
`, opts)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				got, err := p.Eval(t.Context(), rules.Input{Values: map[string]any{"v": v}})
				if err != nil || got.Reason != "4" {
					t.Errorf("%q, %v", got.Reason, err)
				}
				p.Reaches()
			})
		}
		wait.Wait()
	}
	if len(v) != 1 {
		t.Errorf("the value of the program is now %v", v)
	}
}
