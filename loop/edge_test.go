package loop_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// rude is a store and a conversation that panic.
type rude struct {
	loop.Store
	says error
}

func (r rude) Load(context.Context, string) ([]byte, error)                       { panic(r.says) }
func (r rude) Update(context.Context, string, func([]byte) ([]byte, error)) error { panic(r.says) }
func (r rude) Turns(context.Context, int) ([]loop.Turn, error)                    { panic(r.says) }

// TestEdges says what zero values, nil, a context that is done, and panics in the program's code come to, as the table of rules does.
func TestEdges(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	oh := errors.New("oh")
	s := loop.Event{Session: "s"}
	for name, c := range map[string]struct {
		when string
		ctx  context.Context
		ev   loop.Event
		opts []loop.Option
		want rules.Outcome
		kind string // of the fault; "": it is none
		is   error
	}{
		"no context":               {ev: s, want: rules.Continued},
		"no event":                 {want: rules.Failed, kind: "program"},
		"no options":               {ev: s, want: rules.Continued, opts: []loop.Option{nil, loop.WithStore(nil), loop.WithClock(nil), loop.WithEnv(nil), loop.WithRecorder(nil), loop.WithApproval(nil)}},
		"a source nil":             {when: "ok(own)", ev: s, want: rules.Idle, opts: []loop.Option{loop.WithSource("own", nil)}},
		"an effect nil":            {ev: s, want: rules.Continued, opts: []loop.Option{loop.WithEffect("fall", nil)}},
		"an event of another kind": {ev: loop.Event{Session: "s", Name: "Other"}, want: rules.Idle},
		"done":                     {ctx: done, ev: s, want: rules.Failed, kind: "time", is: context.Canceled},
		"a store panics":           {ev: s, want: rules.Failed, kind: "program", is: oh, opts: []loop.Option{loop.WithStore(rude{says: oh})}},
		"a clock panics":           {ev: s, want: rules.Failed, kind: "program", is: oh, opts: []loop.Option{loop.WithClock(func() time.Time { panic(oh) })}},
		"a lookup panics":          {ev: s, want: rules.Failed, kind: "program", is: oh, opts: []loop.Option{loop.WithEnv(func(string) (string, bool) { panic(oh) })}},
		"an approval panics":       {when: "env.X == ''", ev: s, want: rules.Failed, is: oh, opts: []loop.Option{loop.WithApproval(func() string { panic(oh) })}},
		"a source panics":          {when: "own == 1", ev: s, want: rules.Failed, kind: "program", is: oh, opts: []loop.Option{loop.WithSource("own", func(context.Context, loop.Event, rules.Query) (any, error) { panic(oh) })}},
		"a function fails":         {when: "is()", ev: s, want: rules.Failed, is: oh, opts: []loop.Option{loop.WithFunction("is", func() (bool, error) { return false, oh })}},
		"a function panics":        {when: "is()", ev: s, want: rules.Failed, is: oh, opts: []loop.Option{loop.WithFunction("is", func() bool { panic(oh) })}},
		"a conversation panics":    {when: "said('x')", ev: loop.Event{Session: "s", Conversation: rude{says: oh}}, want: rules.Failed, kind: "program", is: oh},
		"a task list panics":       {when: "ok(list)", ev: loop.Event{Session: "s", Tasks: func(context.Context) ([]any, error) { panic(oh) }}, want: rules.Idle},
		"an effect panics":         {ev: s, want: rules.Continued, kind: "program", is: oh, opts: []loop.Option{loop.WithEffect("fall", func(context.Context, loop.Event, string) error { panic(oh) })}},
		"a recorder panics":        {ev: s, want: rules.Continued, opts: []loop.Option{loop.WithRecorder(func(context.Context, loop.Record) error { panic(oh) })}},
	} {
		t.Run(name, func(t *testing.T) {
			verb := "continue: go"
			if c.want == rules.Failed {
				verb = "stop: it may" // so that unknown ends the trying
			}
			opts := []loop.Option{
				loop.WithSource("own", func(context.Context, loop.Event, rules.Query) (any, error) { return 1, nil }),
				loop.WithEffect("fall", func(context.Context, loop.Event, string) error { return nil }), loop.WithFunction("is", func() bool { return true }),
			}
			l := load(t, "facts: {own: {own: x}, list: {tasks: claude}}\nrules:\n  - {name: a, when: \""+cmp.Or(c.when, "true")+"\", "+verb+", then: [{fall: x}]}\n", append(opts, c.opts...)...)
			ctx := cmp.Or(c.ctx, t.Context())
			if name == "no context" {
				ctx = nil
			}
			d, err := l.Decide(ctx, c.ev)
			f := new(loop.Fault)
			if errors.As(d.Err, &f); d.Outcome != c.want || f.Kind != c.kind || c.is != nil && !errors.Is(d.Err, c.is) || err != nil && err != d.Err || name == "a recorder panics" && d.Log == nil {
				t.Errorf("%+v, error %v", d, err)
			}
		})
	}
	l := load(t, always, loop.WithStore(rude{says: oh}))
	_, explained := l.Explain(t.Context(), s)
	_, held := l.Held(t.Context(), "x")
	for what, err := range map[string]error{
		"Explain": explained, "Held": held, "Stop": l.Stop(t.Context(), ""), "Hold": l.Hold(t.Context(), "x", "r", func() error { return nil }),
	} {
		if f := fault(t, err); f.Kind != "program" || !errors.Is(err, oh) {
			t.Errorf("%s with a store that panics: %+v", what, f)
		}
	}
}
