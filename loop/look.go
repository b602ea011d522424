package loop

import (
	"context"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Look returns what an event would find of the policy's loop, see [rules.Program.Look]. It ignores whether loops are
// paused or switched off, and changes nothing. A memory that cannot be read is [rules.FaultMemory], and counts as empty.
func (l *Loop) Look(ctx context.Context, ev host.Event) (v *rules.Verdict, err error) {
	var unknown error
	err = l.outside(ctx, ev, &unknown, func(ctx context.Context, p *rules.Program, f rules.Facts, o rules.Options) error {
		v = p.Look(ctx, f, o)
		return nil
	})
	if err == nil && unknown != nil {
		v.Fault, v.Reason = rules.FaultMemory, unknown.Error()
		v.Problems = append(v.Problems, rules.Problem{Text: v.Reason})
	}
	return v, err
}

// Start returns the files with which a loop of the policy begins, see [rules.Program.Start]. The event has the session
// and directory of the command that starts the loop. Start writes nothing.
func (l *Loop) Start(ctx context.Context, ev host.Event, given map[string]any) (files []rules.StartFile, err error) {
	err = l.outside(ctx, ev, new(error), func(ctx context.Context, p *rules.Program, f rules.Facts, o rules.Options) error {
		var err error
		files, err = p.Start(ctx, f, o, given)
		return err
	})
	return files, err
}

// outside calls use with the program and facts for an event, without deciding it. unknown is why its memory is unknown.
func (l *Loop) outside(ctx context.Context, ev host.Event, unknown *error, use func(context.Context, *rules.Program, rules.Facts, rules.Options) error) error {
	d := l.decision(ev)
	d.observed(ctx, func(ctx context.Context) {
		if err := d.look(ctx, unknown, use); err != nil {
			d.fail(err)
		}
	})
	return d.Err
}

func (d *Decision) look(ctx context.Context, unknown *error, use func(context.Context, *rules.Program, rules.Facts, rules.Options) error) (err error) {
	l := d.loop
	if d.program == nil {
		return l.broken
	}
	d.Time = l.now()
	if d.Root, err = d.root(); err != nil {
		return err
	}
	if d.busy, err = l.liveRun(d.Root, d.Event); err != nil {
		return err
	}
	if l.disk != nil {
		if d.stopped, _, err = l.disk.Ordered(d.Root, l.name, d.Event.SessionID); err != nil {
			return err
		}
	}
	if err := d.meet(); err != nil {
		return err
	}
	defer d.close()
	g := d.gatherer
	*unknown = g.mem.load(ctx)
	g.begin()
	o := d.options()
	o.Trace = max(o.Trace, rules.TraceFull)
	if err := use(ctx, d.program, g.facts(), o); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	return nil
}
