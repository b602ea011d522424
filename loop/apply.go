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
// d is a decision that this process made. To decide here and commit elsewhere, send the event with its ID: the other process
// decides it with Run.
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
		d = d.observed(ctx, func(d *Decision, ctx context.Context) *Decision {
			out := d.bounded(ctx, (*Decision).apply).judge()
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
	if !d.Repeated {
		d.loop.hint(ctx, d)
		d.handOver()
		d.finish(ctx)
		d.settle(ctx)
	}
	d.overdue(ctx)
}

// rescue turns a panic into a decision to stop.
func (d *Decision) rescue(r any) {
	if r != nil {
		d.fail(&rules.PanicError{Value: r, Stack: debug.Stack()})
	}
}

// commit saves the memory and makes the effects on facts, and decides again after a conflict.
func (d *Decision) commit(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case d.Repeated, d.answered():
		return d.reopen(ctx)
	case !d.answers() && !d.Verdict.Changed && len(d.effects()) == 0 && len(d.toMake()) == 0:
		return nil
	}
	if err := d.enter(ctx); err != nil {
		return err
	}
	err := d.attempt(ctx, first)
	for errors.Is(err, ErrConflict) && ctx.Err() == nil {
		d.Retries++
		d.bound.waits.Store(&wait{why: errAgain, retries: d.Retries})
		err = d.retry(ctx, errors.As(err, new(memoryError)))
	}
	if ctx.Err() != nil && (errors.Is(err, ErrConflict) || err != nil && d.Retries > 0) {
		return fmt.Errorf("%w: %w", errAgain, interrupted(ctx))
	}
	return err
}

// errAgain is why a decision is late that others overtook.
var errAgain = fmt.Errorf("the memory of the loop or a fact %w, again and again", ErrConflict)

// retry decides again after a conflict. If something else was counted, facts are gathered first, so that others do not wait
// for them. If a fact has changed, it is gathered under its lock, so that it cannot change again.
func (d *Decision) retry(ctx context.Context, counted bool) error {
	if _, ok := d.gatherer.mem.store.(Locker); !ok || d.Retries > 1 {
		pause(ctx, d.Retries)
	}
	d.gatherer.forget()
	if !counted {
		return d.attempt(ctx, changed)
	}
	if err := d.reload(ctx, true); err != nil {
		return err
	}
	return d.attempt(ctx, overtaken)
}

// An attempt is what a decision does to be kept, after what happened to the one before it.
type attempt int

const (
	first     attempt = iota
	overtaken         // something else was counted
	changed           // a fact has changed
)

// attempt saves the memory and makes the effects on facts. Others wait until these are made, so that no later count hides
// one to roll back, and when a decision is made again.
func (d *Decision) attempt(ctx context.Context, after attempt) error {
	files := &d.gatherer.files
	try := func(alone bool) error {
		defer files.release()
		short := ctx
		var err error
		switch {
		case after == overtaken && alone:
			m := &d.gatherer.mem
			before := m.entries
			var cancel context.CancelFunc
			short, cancel = context.WithTimeout(ctx, maxLocked)
			defer cancel()
			if err = d.reload(short, true); short.Err() != nil { // nothing is saved yet, and facts are gathered without the lock
				m.entries, m.latest = before, &before[0]
				err = memoryError{fmt.Errorf("to decide again takes more than %s: %w", maxLocked, ErrConflict)}
			}
		case after == changed:
			if err = files.hold(ctx, files.wanted); err == nil {
				err = d.reload(ctx, false)
			}
		}
		switch {
		case err != nil:
			return err
		case d.Repeated:
			return d.reopen(ctx)
		}
		if err := d.count(short); err != nil {
			return err
		}
		return d.write(ctx)
	}
	if after == first && len(d.effects()) == 0 {
		return try(false)
	}
	return d.gatherer.mem.locked(ctx, try)
}

// reload loads the memories, and decides again if they are others. counted reports that no fact has changed.
func (d *Decision) reload(ctx context.Context, counted bool) error {
	m := &d.gatherer.mem
	before := m.entries
	if _, err := m.load(ctx); err != nil {
		return err
	}
	switch {
	case d.answered(), counted && m.entries[2].Version == before[2].Version && m.shared(before):
	case counted && m.shared(before) && !takenBack(m.entries[2].Memory, before[2].Memory) && d.program.Recount(d.Verdict, d.options()): // another policy of the session was counted: what this one read is as it was
	default:
		d.evaluate(ctx)
	}
	return nil
}

// maxLocked is how long a decision may make others wait while it is made again.
const maxLocked = 2 * time.Second

// takenBack reports whether a count of the session is lower than before: the verdict was then made on one that did not stay.
func takenBack(now, before rules.Memory) bool {
	for policy, n := range before.Of {
		if now.Of[policy] < n {
			return true
		}
	}
	return false
}

// count saves the memory. After an [ErrConflict] nothing was changed.
func (d *Decision) count(ctx context.Context) error {
	m := &d.gatherer.mem
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	d.saved = m.after(d)
	if len(d.saved) == 0 {
		return nil
	}
	record := d.record()
	if record != nil && len(d.effects()) == 0 {
		record.Kept = true // with this write
	}
	err := d.asks(func() error { return m.save(ctx, d.saved, record) })
	if err == nil && record != nil {
		d.sent = d.told()
		d.sent.kept = record.Kept
	}
	switch {
	case errors.Is(err, ErrConflict): // another event was counted in the meantime
		return memoryError{err}
	case err != nil:
		return memoryError{fmt.Errorf("the loop cannot be counted, so it ends: %w", err)}
	}
	return nil
}

// write makes the effects on facts. After an [ErrConflict] nothing was changed.
func (d *Decision) write(ctx context.Context) error {
	err := d.writeAll(ctx)
	if err == nil && d.claim() {
		return nil
	}
	err = cmp.Or(err, interrupted(ctx))
	// Roll back the count of a continuation that does not happen. If that fails, the loop ends one continuation early.
	back := d.gatherer.mem.takeBack(ctx, d.saved)
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
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			if !changes(e) {
				continue
			}
			s := d.share(e)
			i := slices.IndexFunc(shares, func(o share) bool { return o.name == s.name })
			if i < 0 {
				shares = append(shares, s)
			} else {
				shares[i].effects = append(shares[i].effects, e)
			}
		}
	}
	return shares
}

// share returns effects on one fact with what writes it.
func (d *Decision) share(effects ...rules.Effect) share {
	s := share{effects: effects}
	for _, f := range d.program.Facts() {
		if f.Name == effects[0].Fact {
			s.name, s.to = writerOf(d.loop.source(f.Source, &d.gatherer.files))
		}
	}
	return s
}

// changes reports whether an effect changes a fact, which is done before an answer. Remembered values are part of the
// memory.
func changes(e rules.Effect) bool {
	switch e.Kind {
	case rules.SetEffect, rules.DeleteEffect, rules.ArchiveEffect:
		return true
	}
	return false
}

// writeAll makes the changes of the verdict. With gate: all, several rules may change facts of several Writers; after the
// first of them has written, the decision cannot be made again.
func (d *Decision) writeAll(ctx context.Context) error {
	for i, s := range d.effects() {
		err := s.write(ctx)
		if err == nil || d.Event.ID != "" && errors.Is(err, ErrConflict) && d.isMade(ctx, s.effects) { // by a redelivery
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
	next, held, started := slices.IndexFunc(d.calls, func(c Call) bool { return !changes(c.Effect) }), false, 0
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			switch e.Kind {
			case rules.OwnEffect:
				c := d.calls[next]
				next++
				if held = held || ctx.Err() != nil; held { // the first that fails holds up those after it
					continue
				}
				if err := l.carryOut(ctx, c); err != nil {
					held = true
					d.failed(c, err, e.Private)
				} else {
					d.done = append(d.done, c.ID)
				}
			case rules.RunEffect:
				c := d.call(len(d.calls)+started, part.Rule, e)
				started++
				if err := d.start(ctx, c); err != nil {
					d.failed(c, err, true) // it may quote the program's output
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

// memoryAge is how long an unused memory of a session is kept.
const memoryAge = 30 * 24 * time.Hour
