package loop

import (
	"context"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Look returns what an event would find of the policy's loop, see [rules.Program.Look]. It ignores whether loops are
// paused or switched off, and changes nothing. A memory that cannot be read is a problem
// of the verdict, [rules.FaultMemory] if nothing else keeps the rules from being tried, and counts as empty.
func (l *Loop) Look(ctx context.Context, ev host.Event) (*rules.Verdict, error) {
	var v *rules.Verdict
	unknown, err := l.outside(ctx, ev, func(ctx context.Context, p *rules.Program, f rules.Facts, o rules.Options) error {
		v = p.Look(ctx, f, o)
		return nil
	})
	if err == nil && unknown != nil {
		if v.Problems = append(v.Problems, rules.Problem{Text: unknown.Error()}); v.Cause == "" {
			v.Cause, v.Reason = rules.FaultMemory, unknown.Error()
		}
	}
	return v, err
}

// Awaits reports whether a rule that decided an event with [rules.Wait] still waits, see [rules.Program.Awaits]: it gathers
// the facts of the rule's until, and changes, counts and records nothing. Once it returns false, decide the event again with
// [Loop.Run]. An error is why until was not evaluated.
func (l *Loop) Awaits(ctx context.Context, ev host.Event, rule string) (waits bool, err error) {
	_, err = l.outside(ctx, ev, func(ctx context.Context, p *rules.Program, f rules.Facts, o rules.Options) error {
		waits = p.Awaits(ctx, f, o, rule)
		return nil
	})
	return waits, err
}

// Start returns the files with which a loop of the policy begins, see [rules.Program.Start]. The event has the session
// and directory of the command that starts the loop. Start writes nothing.
func (l *Loop) Start(ctx context.Context, ev host.Event, given map[string]any) (files []rules.StartFile, err error) {
	_, err = l.outside(ctx, ev, func(ctx context.Context, p *rules.Program, f rules.Facts, o rules.Options) error {
		var err error
		files, err = p.Start(ctx, f, o, given)
		return err
	})
	return files, err
}

// An inquiry is about what a program finds for an event.
type inquiry func(context.Context, *rules.Program, rules.Facts, rules.Options) error

// outside makes an inquiry without deciding the event. unknown is why its memory is unknown.
func (l *Loop) outside(ctx context.Context, ev host.Event, ask inquiry) (unknown, err error) {
	d := l.decision(ev)
	d.observed(ctx, func(d *Decision, ctx context.Context) *Decision {
		if unknown, err = d.look(ctx, ask); err != nil {
			d.fail(err)
		}
		return d
	})
	return unknown, d.Err
}

func (d *Decision) look(ctx context.Context, ask inquiry) (unknown, err error) {
	l := d.loop
	if d.program == nil {
		return nil, l.broken
	}
	d.Time = l.now()
	if d.Root, err = d.root(); err != nil {
		return unknown, err
	}
	if d.ordered, err = l.kept.ordered(ctx, d.orderKeys()); err != nil {
		return unknown, err
	}
	if err := d.meet(); err != nil {
		return unknown, err
	}
	defer d.close()
	g := d.gatherer
	_, unknown = g.mem.load(ctx)
	g.begin()
	o := d.options()
	o.Trace = max(o.Trace, rules.TraceFull)
	if err := ask(ctx, d.program, g.facts(), o); err != nil {
		return unknown, err
	}
	if ctx.Err() != nil {
		return unknown, interrupted(ctx)
	}
	return unknown, nil
}
