package loop_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

func TestLoad(t *testing.T) {
	fsys := fstest.MapFS{
		"p.yaml": {Data: []byte("ralph: 1\nparams: {most: {type: integer, default: 1}}\nfacts: {s: {value: x, schema: s.json}}\n" +
			"rules:\n  - {name: go, when: s.n < most and tenant.limit > s.n, continue: go}\n")},
		"s.json": {Data: []byte(`{"properties": {"n": {"type": "integer", "default": 0}}}`)},
	}
	type tenant struct {
		Limit int `json:"limit"`
	}
	l, err := loop.Load(fsys, "p.yaml", loop.WithParams(map[string]string{"most": "5"}), loop.WithValues(map[string]any{"tenant": tenant{}}),
		loop.WithCeilings(rules.Limits{Continuations: 1}))
	if err != nil {
		t.Fatal(err)
	}
	ev := loop.Event{Session: "s", Values: map[string]any{"s": []byte(`{"n": 4}`), "tenant": tenant{9}}}
	if d := decide(t, l, ev); !d.Continue() {
		t.Errorf("with params, values and a schema: %+v", d)
	}
	if d := decide(t, l, ev); d.Outcome != rules.Limit {
		t.Errorf("at the ceiling: %+v", d)
	}
}

// New refuses a policy whose sources the loop does not have. A new policy of the same name goes on with the counts in the store.
func TestNew(t *testing.T) {
	parse := func(src string) *rules.Policy {
		p, err := rules.Options{Sources: []string{"own"}}.Parse("p.yaml", []byte("ralph: 1\n"+src))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	judged, own := parse("facts: {v: {judge: what}}\nrules:\n  - {name: go, when: ok(v), continue: a}\n"), parse("facts: {v: {own: x}}\nrules:\n  - {name: go, when: ok(v), continue: b}\n")
	if _, err := loop.New(judged); err == nil || !strings.Contains(err.Error(), "judge.Option()") {
		t.Errorf("New without a judge: %v", err)
	}
	store := loop.WithStore(loop.Map())
	l, err := loop.New(own, store, loop.WithSource("own", func(context.Context, loop.Event, rules.Query) (any, error) { return 1, nil }))
	if err != nil {
		t.Fatal(err)
	}
	decide(t, l, loop.Event{})
	if l, err = loop.New(parse("limits: {continuations: 1}\nrules:\n  - {name: go, continue: c}\n"), store); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, l, loop.Event{}); d.Outcome != rules.Limit {
		t.Errorf("the policy that replaces another one has its counts: %+v", d)
	}
}
