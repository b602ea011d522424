package rules_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

// rude is a World that panics, or says that its context is done.
type rude struct{ says any }

func (r rude) answer(ctx context.Context) error {
	if r.says != nil {
		panic(r.says)
	}
	return ctx.Err()
}

func (r rude) Fact(ctx context.Context, _ rules.Query) rules.Found {
	return rules.Found{Err: r.answer(ctx)}
}

func (r rude) Name(ctx context.Context, _ string) (any, error)   { return nil, r.answer(ctx) }
func (r rude) Ask(ctx context.Context, _, _ string) (any, error) { return nil, r.answer(ctx) }

type loud struct{}

func (loud) String() string { panic(errOops) }

// TestEdges says what zero values, nil, a context that is done, and panics in the program's code come to: a verdict, and never a panic.
func TestEdges(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	panics := rules.Options{Functions: map[string]any{
		"boom": func() bool { panic("boom") }, "oops": func() bool { panic(errOops) }, "unset": (func() bool)(nil), "loud": func() loud { return loud{} }}}
	for name, c := range map[string]struct {
		when string
		ctx  context.Context
		in   rules.Input
		want string // outcome, and a part of the reason
		is   error
	}{
		"no input":                    {when: "busy", ctx: t.Context(), want: "idle"},
		"no context":                  {when: "ok(list)", ctx: nil, in: rules.Input{World: rude{}}, want: "idle"},
		"no values":                   {when: "missing(list)", ctx: t.Context(), in: rules.Input{Values: nil}, want: "stopped a"},
		"a value nil":                 {when: "missing(list)", ctx: t.Context(), in: rules.Input{Values: map[string]any{"list": nil}}, want: "stopped a"},
		"an event of another kind":    {when: "true", ctx: t.Context(), in: rules.Input{Event: "Other"}, want: "idle"},
		"done, and nothing to gather": {when: "true", ctx: done, want: "stopped a"},
		"done, and a fact":            {when: "list == 'x'", ctx: done, in: rules.Input{World: rude{}}, want: "failed", is: context.Canceled},
		"done, and a name":            {when: "busy", ctx: done, in: rules.Input{World: rude{}}, want: "failed", is: context.Canceled},
		"done, and a question":        {when: "said('x')", ctx: done, in: rules.Input{World: rude{}}, want: "failed", is: context.Canceled},
		"a function panics":           {when: "boom()", ctx: t.Context(), want: "failed rule a (line 5): boom() failed: boom"},
		"a function panics, an error": {when: "oops()", ctx: t.Context(), want: "failed", is: errOops},
		"a function is nil":           {when: "unset()", ctx: t.Context(), want: "failed"},
		"a fact panics":               {when: "list == 'x'", ctx: t.Context(), in: rules.Input{World: rude{"boom"}}, want: "failed the program panicked: boom"},
		"a name panics":               {when: "busy", ctx: t.Context(), in: rules.Input{World: rude{errOops}}, want: "failed", is: errOops},
		"a question panics":           {when: "said('x')", ctx: t.Context(), in: rules.Input{World: rude{errOops}}, want: "failed", is: errOops},
		"a text panics":               {when: "not ok(list)", ctx: t.Context(), in: rules.Input{Run: true}, want: "failed the program panicked", is: errOops},
	} {
		text := "a"
		if name == "a text panics" {
			text = "${loud()}"
		}
		p := parse(t, "ralph: 1\nfacts:\n  list: {text: list.txt}\nrules:\n  - {name: a, when: \""+c.when+"\", stop: '"+text+"'}\nstart: [set: list = string(boom())]\n", panics)
		v, err := p.Eval(c.ctx, c.in)
		if got := strings.TrimSpace(string(v.Outcome) + " " + v.Reason); !strings.HasPrefix(got, c.want) || err != nil || c.is != nil && !errors.Is(v.Err, c.is) {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
		if _, err := p.Start(c.ctx, c.in, ""); err == nil {
			t.Errorf("%s: start does not fail", name)
		}
	}
	if _, err := (rules.Options{Functions: map[string]any{"f": nil}}).Parse("", []byte("ralph: 1\nrules: []\n")); !errors.As(err, new(rules.Findings)) {
		t.Errorf("a function nil: %v", err)
	}
	if _, err := rules.Parse("", nil); !errors.As(err, new(rules.Findings)) {
		t.Errorf("no policy: %v", err)
	}
	if s := (rules.Finding{}).String() + rules.Findings(nil).Error(); s != ":0:0:  []" {
		t.Errorf("the zero finding is %q", s)
	}
}
