package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Apply commits a decision of [Loop.Preview], as [Loop.Run] does. If the memory or a changed file changed since the
// decision was made, Apply decides again; so use the decision that it returns, which is d with the new result.
//
// If d is nil, zero, applied before, or of another loop, Apply changes nothing and returns another decision, which lets
// the agent stop.
func (l *Loop) Apply(ctx context.Context, d *Decision) (*Decision, error) {
	refused := l.decision(host.Event{})
	switch {
	case refused.Err != nil: // d has no loop to record it
	case d == nil || d.loop == nil:
		refused.fail(errors.New("there is no decision: Preview makes one"))
	case d.loop != l:
		refused.fail(fmt.Errorf("the decision is of another loop, of the policy %s", d.Policy))
	case d.spent:
		refused.fail(errors.New("the decision was applied before; Preview makes another"))
	default:
		if d.spent = d.gatherer != nil && !d.broken; d.spent {
			d.Err = nil // it is decided again if something has changed
		}
		d = d.observed(ctx, func(ctx context.Context) *Decision {
			out := d.bounded(ctx, d.apply).judge()
			out.keep(ctx)
			return out
		})
		return d, d.Err
	}
	return refused, refused.Err
}

// apply is Apply without the decision log.
func (d *Decision) apply(ctx context.Context) {
	defer func() { d.rescue(recover()) }()
	defer d.close()
	if d.gatherer == nil || d.broken {
		return
	}
	err := d.gatherer.open()
	if err == nil {
		err = d.commit(ctx)
	}
	if err == nil && !d.claim() {
		err = interrupted(ctx)
	}
	if err != nil {
		d.fail(err)
		return
	}
	d.Kept = true
	d.free() // the rest may make another decision of the session
	d.loop.hint(ctx, d)
	d.settle()
	d.finish(ctx)
}

// rescue turns a panic into a decision to stop.
func (d *Decision) rescue(r any) {
	if r != nil {
		d.fail(&rules.PanicError{Value: r, Stack: debug.Stack()})
	}
}

// commit saves the memory and makes the effects, and decides again after a conflict.
func (d *Decision) commit(ctx context.Context) error {
	m := &d.gatherer.mem
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if !d.Verdict.Changed && len(d.effects()) == 0 {
		return nil
	}
	if err := d.enter(ctx); err != nil {
		return err
	}
	unlock, err := m.lock(ctx) // held until the effects are made, so that no later count hides one to roll back
	if err != nil {
		return memoryError{fmt.Errorf("ralph's own directory cannot be used, so the loop cannot be counted: %w", err)}
	}
	defer unlock()
	defer d.gatherer.files.release()
	for {
		err := d.save(ctx)
		if err == nil || !errors.Is(err, ErrConflict) && (d.Retries == 0 || ctx.Err() == nil) {
			return err
		}
		d.Retries++
		conflict := fmt.Errorf("the memory of the loop or a fact %w, again and again", ErrConflict)
		d.bound.waits.Store(&wait{conflict, d.Retries})
		pause(ctx, d.Retries)
		before, counted := m.entries, errors.As(err, new(memoryError))
		err = m.load(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", conflict, interrupted(ctx))
		}
		if err != nil {
			return err
		}
		if counted && m.shared(before) && d.program.Recount(d.Verdict, d.options()) {
			continue // another policy of the session was counted: what this one read is as it was
		}
		d.evaluate(ctx)
	}
}

// save saves the memory and makes the effects once. After an [ErrConflict] nothing was changed.
func (d *Decision) save(ctx context.Context) error {
	m := &d.gatherer.mem
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	saved := m.after(d.Verdict)
	if len(saved) > 0 {
		switch err := m.store.Save(ctx, saved...); {
		case errors.Is(err, ErrConflict): // another event was counted in the meantime
			return memoryError{err}
		case err != nil:
			return memoryError{fmt.Errorf("the loop cannot be counted, so it ends: %w", err)}
		}
	}
	err := d.write(ctx)
	if err == nil && d.claim() {
		return nil
	}
	err = cmp.Or(err, interrupted(ctx))
	// Roll back the count of a continuation that does not happen. If that fails, the loop ends one continuation early.
	back := m.takeBack(ctx, saved)
	switch {
	case !errors.Is(err, ErrConflict):
		return faultError{fmt.Errorf("the changes of this verdict cannot be made, so the loop ends: %w", err), rules.FaultEffect}
	case back != nil:
		return memoryError{fmt.Errorf("the loop cannot be counted, so it ends: %v", back)}
	}
	return err
}

// share is the part of the effects that one Writer makes.
type share struct {
	name    string
	to      Writer
	effects []rules.Effect
}

// effects returns the changes of facts that the verdict asks for, in the order of the rules, by Writer. Prunes and
// own effects follow once the decision is applied. A prompt changes nothing.
func (d *Decision) effects() (shares []share) {
	if d.Event.Name == host.UserPromptSubmit {
		return nil
	}
	g := d.gatherer
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			switch e.Kind {
			case rules.PruneEffect, rules.OwnEffect, rules.RunEffect, rules.RememberEffect: // remembered values are part of the memory
				continue
			}
			var s share
			for _, f := range d.program.Facts() {
				if f.Name == e.Fact {
					s.name, s.to = writerOf(g.loop.source(f.Source, &g.files))
				}
			}
			i := slices.IndexFunc(shares, func(o share) bool { return o.name == s.name })
			if i < 0 {
				i, shares = len(shares), append(shares, s)
			}
			shares[i].effects = append(shares[i].effects, e)
		}
	}
	return shares
}

// write makes the changes of the verdict. With gate: all, several rules may change facts of several Writers; after the
// first of them has written, the decision cannot be made again.
func (d *Decision) write(ctx context.Context) error {
	for i, s := range d.effects() {
		err := s.write(ctx)
		if err == nil {
			continue
		}
		if i > 0 {
			err = fmt.Errorf("some were made, and the %s could not be changed: %v", s.name, err)
		}
		d.texts.quotes = slices.ContainsFunc(s.effects, func(e rules.Effect) bool { return e.Private })
		return err
	}
	return nil
}

func (s share) write(ctx context.Context) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if s.to == nil {
		return fmt.Errorf("nothing can change %s", s.effects[0].Fact)
	}
	return guarded("the "+s.name, func() error { return s.to.Write(ctx, s.effects) })
}

// guarded calls code of the embedding program, and returns a panic as an error.
func guarded(what string, call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked: %v", what, r)
		}
	}()
	return call()
}

// finish makes the effects that follow an applied decision: own ones, programs to run, prunes of rules and of finally. It
// is best effort: the next decision removes files that this one cannot.
func (d *Decision) finish(ctx context.Context) {
	l := d.loop
	var effects []rules.Effect
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			switch e.Kind {
			case rules.OwnEffect:
				if err := l.carryOut(ctx, e); err != nil {
					d.failed(part.Rule, fmt.Errorf("%s was not carried out: %w", e.Name, err), e.Private)
				}
			case rules.RunEffect:
				if err := d.start(ctx, part.Rule, e); err != nil {
					d.failed(part.Rule, err, true) // it may quote the program's output
				}
			case rules.PruneEffect:
				effects = append(effects, e)
			}
		}
	}
	for _, e := range append(effects, d.Verdict.Finally...) {
		switch e.Kind {
		case rules.PruneEffect:
			root := d.gatherer.root
			if root == nil {
				continue
			}
			if _, err := root.Prune(ctx, e.Glob, e.Older, d.Time); err != nil {
				warning := "prune " + e.Glob + ": " + err.Error()
				if e.Private {
					warning = "prune: " + hidden(warning)
				}
				d.Verdict.Trace.Warnings = append(d.Verdict.Trace.Warnings, warning)
			}
		case rules.LogEffect:
			logged := len(d.Log)
			d.logLines(e.Text)
			if e.Private {
				d.texts.private = append(d.texts.private, d.Log[logged:]...)
			}
		}
	}
	if l.kept.disk != nil {
		_ = l.kept.disk.Clean(d.Time, memoryAge) // an old memory does no harm
	}
}

// failed reports an effect of a rule that was not made.
func (d *Decision) failed(rule string, err error, private bool) {
	d.notice("rule " + rule + ": " + err.Error())
	if private {
		d.texts.private = append(d.texts.private, d.Notices[len(d.Notices)-1])
	}
}

// carryOut makes an effect of the embedding program.
func (l *Loop) carryOut(ctx context.Context, e rules.Effect) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	v, ok := l.extensions.effects[e.Name]
	if !ok {
		return errors.New("this program has no such effect")
	}
	return guarded("it", func() error { return v.do(ctx, e) })
}

// memoryAge is how long an unused memory of a session is kept.
const memoryAge = 30 * 24 * time.Hour
