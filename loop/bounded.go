package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/internal/room"
)

// bound is what a decision and the caller that waits for it share. The first that claims it answers: the decision, which
// is then counted and kept, or the caller, whose time is up.
type bound struct {
	claimed atomic.Bool
	answers chan *Decision         // what is kept, if effects follow; then the decision
	root    atomic.Pointer[string] // once it is known
	waits   atomic.Pointer[wait]   // nil: nothing else changes what the decision depends on
	asked   wait                   // for the store
}

// wait is why a decision waits.
type wait struct {
	why     error // an [ErrConflict]; nil: the store does not answer
	store   Store
	retries int
}

// err returns the error of a decision whose time is up.
func (w *wait) err(late error) error {
	if w.why == nil {
		return memoryError{fmt.Errorf("%s does not answer: %w", storeName(w.store), late)}
	}
	return fmt.Errorf("%w: %w", w.why, late)
}

// graceTime is how long a caller that cancels its context waits for what heeds it. A deadline is exact instead.
const graceTime = time.Second

// bounded calls do in another goroutine, so that nothing that ignores its context keeps the caller. It returns d, or
// another decision if the time is up before: d must not be read then.
func (d *Decision) bounded(ctx context.Context, do func(*Decision, context.Context)) *Decision {
	start := time.Now()
	b := &bound{answers: make(chan *Decision, 2)} // buffered, so that a late decision never blocks
	d.bound = b
	if ctx.Err() != nil {
		return d.late(ctx, b, start)
	}
	go func() {
		returned := false
		defer func() {
			if !returned {
				d.fail(errors.New("something that the loop called ended its goroutine"))
				d.rescue(recover())
				d.close()
			}
			b.answers <- d
		}()
		room.Grow()
		do(d, ctx)
		returned = true
	}()
	var kept *Decision
	var grace <-chan time.Time
	up, over := ctx.Done(), false
	for kept != d {
		select {
		case kept = <-b.answers:
			continue
		case <-grace:
			up, over = ctx.Done(), true
		case <-up:
			if !over && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				up, grace = nil, time.After(graceTime)
				continue
			}
		}
		select {
		case kept = <-b.answers: // at the same time
		default:
			switch {
			case kept != nil:
				kept.problem("not all effects were made: " + interrupted(ctx).Error())
				return kept
			case b.claimed.CompareAndSwap(false, true):
				return d.late(ctx, b, start)
			}
			kept = <-b.answers // it was made in time
		}
	}
	return d
}

// late returns the decision to stop for one whose time is up. Of d it reads what never changes.
func (d *Decision) late(ctx context.Context, b *bound, start time.Time) *Decision {
	out := d.loop.decision(d.Event)
	out.Time, out.Took = d.loop.now(), time.Since(start)
	if root := b.root.Load(); root != nil {
		out.Root = *root
	}
	err := interrupted(ctx)
	if w := b.waits.Load(); w != nil {
		out.Retries, err = w.retries, w.err(err)
	}
	out.fail(err)
	return out
}

// asks calls the store. Unless the decision waits because of a conflict, it is the store for which it waits, also if that
// gives up because the time is up.
func (d *Decision) asks(call func() error) error {
	w := &d.bound.asked
	if w.store == nil { // the caller may read it from now on
		w.store = d.gatherer.mem.store
	}
	d.bound.waits.CompareAndSwap(nil, w)
	err := call()
	if err == nil {
		d.bound.waits.CompareAndSwap(w, nil)
	}
	return err
}

// storeName returns what a store is called where it does not answer.
func storeName(s Store) string {
	if named, ok := s.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("the store %T", s)
}

// claim reports whether the decision may answer: the time was not up.
func (d *Decision) claim() bool {
	d.claimed = d.claimed || d.bound.claimed.CompareAndSwap(false, true)
	return d.claimed
}

// handOver answers the caller with what is decided and kept, for the case that the time is up before all effects are made.
func (d *Decision) handOver() {
	follows := d.loop.kept.disk != nil || len(d.Verdict.Finally) > 0
	for _, part := range d.Verdict.Parts {
		follows = follows || len(part.Effects) > 0
	}
	if !follows {
		return
	}
	kept, v := *d, *d.Verdict
	v.Trace.Warnings, v.Problems = slices.Clip(v.Trace.Warnings), slices.Clip(v.Problems)
	kept.Failures = slices.Clip(d.Failures)
	kept.Verdict, kept.Notices, kept.Log, kept.texts.private = &v, slices.Clip(d.Notices), slices.Clip(d.Log), slices.Clip(d.texts.private)
	d.bound.answers <- &kept
}
