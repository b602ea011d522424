package loop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Values of an event hold only for that event, and replace those of the loop.
func TestEventValues(t *testing.T) {
	l := load(t, `ralph: 1
facts: {left: {input: {type: integer}}, phase: {input: {type: string}}}
rules: [{name: go-on, continue: "${phase}: ${left}"}]
`, loop.WithValues(map[string]any{"phase": "build"}))
	for _, tt := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{"left": 2}, "build: 2"},
		{map[string]any{"left": 1, "phase": "test"}, "test: 1"},
		{nil, "build: (?)"},
	} {
		d, err := l.Run(t.Context(), host.Event{Values: tt.values})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, d.Verdict.Reason); diff != "" {
			t.Errorf("%v (-want +got)\n%s", tt.values, diff)
		}
	}
}

// A function that supplies a value is called once for a decision, even if the decision is made again after a conflict,
// and not if no rule reads it.
func TestLazyValues(t *testing.T) {
	const policy = `ralph: 1
facts:
  price: {input: {type: integer}}
  deal: {input: {properties: {price: {type: integer}, other: {type: integer}}}}
  unread: {input: {type: integer}}
rules:
  - {name: unread, when: price > 100 and unread > 0, stop: x}
  - {name: go, when: deal.price + price + loop.continuations < 1000, continue: '${deal.price} ${price} ${transcript.last}'}
`
	calls := map[string]int{}
	value := func(name string, v any, err error) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the context has no deadline")
			}
			calls[name]++
			return v, err
		}
	}
	event := map[string]any{"price": value("price", 3, nil), "unread": value("unread", 3, nil)}
	always := map[string]any{
		"price": value("hidden", 1, nil), "transcript.last": value("last", "bye", nil),
		"deal": map[string]any{"price": value("deal", 2, nil), "other": value("other", 2, nil)},
	}
	s := newRows()
	s.onSave = func() error {
		if s.saves > 2 {
			return nil
		}
		return fmt.Errorf("somebody was faster: %w", loop.ErrConflict)
	}
	l := load(t, policy, loop.WithStore(s), loop.WithValues(always))
	d, err := l.Run(t.Context(), host.Event{SessionID: "s", Values: event})
	if err != nil || said(d) != "2 3 bye" || d.Retries != 2 {
		t.Errorf("%q after %d retries, error %v", said(d), d.Retries, err)
	}
	if diff := cmp.Diff(map[string]int{"price": 1, "last": 1, "deal": 1}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if _, err := l.Run(t.Context(), host.Event{SessionID: "s", Values: event}); err != nil || calls["deal"] != 2 {
		t.Errorf("the next decision has another value: %v, error %v", calls, err)
	}
	event["price"] = value("price", nil, errors.New("no route"))
	d, _ = l.Run(t.Context(), host.Event{SessionID: "s", Values: event})
	if v := d.Verdict; v.Cause != rules.FaultFact || v.Reason != "the rule unread is undecided: price is missing: could not be read: no route" {
		t.Errorf("fault %q: %s", v.Cause, v.Reason)
	}
}
