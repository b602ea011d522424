package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// maxRounds bounds how often a decision is made again because a writer that
// takes no lock changed a file meanwhile.
const maxRounds = 8

var (
	errRestless = errors.New("its files change faster than can be decided")
	errClosed   = errors.New("the decision was applied or closed before; an event is decided anew with Decide")
)

// Apply makes a decision true: memory, effects, decision log, in this order. If a
// file or the memory changed since the decision was made, it is made again under
// the locks of all that it changes, so the result may differ: answer the decision
// that Apply returns, which is d. An error means that the policy could not be
// followed; the decision then lets the agent stop and says why.
//
// ctx bounds the waiting for locks; when it is done, nothing is changed any more.
// Apply releases what d holds open, and can be called once. It never panics.
func (l *Loop) Apply(ctx context.Context, d *Decision) (*Decision, error) {
	l.apply(ctx, d)
	l.keep(d)
	return d, d.Err
}

// apply is Apply but for the decision log.
func (l *Loop) apply(ctx context.Context, d *Decision) {
	defer d.Close()
	defer d.rescue()
	if d.gatherer == nil || d.Err != nil {
		return
	}
	if d.gatherer.root == nil {
		d.fail(errClosed)
		return
	}
	if err := l.commit(ctx, d); err != nil {
		d.fail(err)
		return
	}
	d.Applied = true
	l.finish(ctx, d)
}

// rescue turns a panic into a decision that lets the agent stop.
func (d *Decision) rescue() {
	if r := recover(); r != nil {
		d.fail(fmt.Errorf("internal error: %v\n%s", r, debug.Stack()))
	}
}

// commit writes memory and effects, deciding again where that is needed.
func (l *Loop) commit(ctx context.Context, d *Decision) error {
	if !l.writes(d) {
		return nil
	}
	var names []string
	for range maxRounds {
		names = append(names, l.lockNames(d)...)
		done, err := l.commitLocked(ctx, d, names)
		if done || err != nil {
			return err
		}
	}
	return errRestless
}

// commitLocked writes under the locks of these names. It is not done if the
// decision, made again, needs more of them; nothing is written then.
func (l *Loop) commitLocked(ctx context.Context, d *Decision, names []string) (done bool, err error) {
	unlock, err := l.store.Lock(ctx, names)
	if err != nil {
		return false, fmt.Errorf("ralph's own directory cannot be used, so the loop cannot be counted: %w", err)
	}
	defer unlock()
	g := d.gatherer
	switch {
	case g.mem.stale(l.store):
		g.mem.load(l.store, d.Event)
		d.evaluate(ctx)
	case d.moved(ctx):
		d.evaluate(ctx)
	}
	for range maxRounds {
		if slices.ContainsFunc(l.lockNames(d), func(n string) bool { return !slices.Contains(names, n) }) {
			return false, nil
		}
		if ctx.Err() != nil {
			return false, interrupted(ctx)
		}
		if err := g.mem.save(l.store, d.Verdict, g.program, d.Time); err != nil {
			return false, fmt.Errorf("the loop cannot be counted, so it ends: %w", err)
		}
		err := g.root.Apply(ctx, d.changes())
		if err == nil {
			return true, nil
		}
		// What was counted for a verdict that is not to be is taken back. That it
		// may fail where the disk does is told by the error at hand.
		_ = g.mem.restore(l.store)
		if !errors.Is(err, state.ErrChanged) {
			return false, fmt.Errorf("the changes of this verdict cannot be made, so the loop ends: %w", err)
		}
		d.evaluate(ctx)
	}
	return false, errRestless
}

// writes reports whether a decision changes memory or files.
func (l *Loop) writes(d *Decision) bool {
	return d.gatherer.mem.changes(d.Verdict, d.gatherer.program, d.Time) || d.Event.Name != host.UserPromptSubmit && len(d.changes()) > 0
}

// lockNames names the locks of a decision: its memory and the files it changes.
func (l *Loop) lockNames(d *Decision) []string {
	g := d.gatherer
	names := []string{store.MemoryLock(g.mem.session.key)}
	if g.mem.project.key != "" {
		names = append(names, store.MemoryLock(g.mem.project.key))
	}
	for _, c := range d.changes() {
		name, err := g.root.Target(c.Path) // several paths may lead to one file
		if err != nil {
			name = filepath.Join(d.Root, filepath.FromSlash(c.Path))
		}
		names = append(names, name)
	}
	return names
}

// finish does what follows a decision that was applied: prunes of rules and of
// finally. It is best effort: a file that cannot be removed today is removed
// tomorrow.
func (l *Loop) finish(ctx context.Context, d *Decision) {
	var effects []rules.Effect
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			if e.Kind == rules.PruneEffect {
				effects = append(effects, e)
			}
		}
	}
	for _, e := range append(effects, d.Verdict.Finally...) {
		switch e.Kind {
		case rules.PruneEffect:
			if _, err := d.gatherer.root.Prune(ctx, e.Glob, e.Older, d.Time); err != nil {
				d.Verdict.Trace.Warnings = append(d.Verdict.Trace.Warnings, "prune "+e.Glob+": "+err.Error())
			}
		case rules.LogEffect:
			d.logLines(e.Text)
		}
	}
	_ = l.store.Clean(d.Time, memoryAge) // an old memory that stays does no harm
}

// memoryAge is how long the memory of a session is kept after it was last used.
const memoryAge = 30 * 24 * time.Hour
