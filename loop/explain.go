package loop

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// Explain evaluates an event as Decide would do now, and changes and counts nothing. Sources are asked, programs too if the loop allows
// them. The verdict has its trace.
func (l *Loop) Explain(ctx context.Context, ev Event) (v rules.Verdict, err error) {
	err = l.within(ctx, ev, func(ctx context.Context, w *work) error {
		d, err := l.load(ctx, w.key)
		if err != nil {
			return err
		}
		c := cmp.Or(d.Policies[w.counts], &counts{})
		c.begin(w.ev)
		w.memory = c.Memory
		in := w.input(d.Total)
		in.Trace = true
		if v, err = l.policy.Eval(ctx, in); err != nil {
			return misuse("%w", err)
		}
		return nil
	})
	return v, err
}

// Start makes the changes of the policy's start, where the name text is words. It refuses where a file that it sets exists, and a policy that
// has no start is an error.
func (l *Loop) Start(ctx context.Context, words string) error {
	return l.within(ctx, Event{Dir: cmp.Or(l.root, ".")}, func(ctx context.Context, w *work) error {
		if ctx.Err() != nil {
			return l.fault(w.key, context.Cause(ctx))
		}
		effects, err := l.policy.Start(ctx, w.input(0), words)
		if err != nil {
			return err
		}
		if len(effects) == 0 {
			says := strings.TrimSuffix("; it says: "+text.Line(l.policy.Description), "; it says: ")
			return misuse("the policy %s has no start: what it is for, such as a plugin, begins its loop%s", l.policy.Name, says)
		}
		if err := w.apply(effects); err != nil {
			return &Fault{"files", errors.Is(err, state.ErrChanged), err}
		}
		w.verdict.Effects = effects
		w.after(ctx)
		return w.answer.Err
	})
}
