package loop

import (
	"cmp"
	"context"
	"errors"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// Explain evaluates an event as Decide would do now, and changes and counts nothing. Sources are asked, programs too if the loop allows
// them. The verdict has its trace.
func (l *Loop) Explain(ctx context.Context, ev Event) (v rules.Verdict, err error) {
	defer caught(&err)
	ctx, w, err := l.work(ctx, ev)
	if err != nil {
		return rules.Verdict{}, err
	}
	defer w.close()
	var s *session
	b, err := l.store.Load(ctx, w.key)
	if err == nil {
		s, err = readSession(b)
	}
	if err != nil {
		return rules.Verdict{}, l.fault(w.key, err)
	}
	c := s.of(w.counts)
	c.begin(w.ev)
	w.memory = c.Memory
	in := w.input(s.Total)
	in.Trace = true
	if v, err = w.policy.Eval(ctx, in); err != nil {
		err = misuse("%w", err)
	}
	return v, err
}

// Start makes the changes of the policy's start, where the name text is words. It refuses where a file that it sets exists, and a policy that
// has no start is an error.
func (l *Loop) Start(ctx context.Context, words string) (err error) {
	defer caught(&err)
	ctx, w, err := l.work(ctx, Event{Dir: cmp.Or(l.root, ".")})
	if err != nil {
		return err
	}
	defer w.close()
	if ctx.Err() != nil {
		return l.fault(w.key, context.Cause(ctx))
	}
	effects, err := w.policy.Start(ctx, w.input(0), words)
	if err != nil {
		return err
	}
	if len(effects) == 0 {
		return misuse("the policy %s has no start: what it is for, such as a plugin, begins its loop%s", w.policy.Name, after("; it says: ", text.Line(w.policy.Description)))
	}
	if err := w.apply(effects); err != nil {
		return &Fault{"files", errors.Is(err, state.ErrChanged), err}
	}
	d := made{verdict: rules.Verdict{Effects: effects}}
	w.after(ctx, &d)
	return d.Err
}
