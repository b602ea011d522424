package loop

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/loop/host"
)

// Gate is several policies that answer one hook. Each has its own memory, bounds
// and effects; the agent goes on if any of them says so. A policy that fails
// stops only itself. A Gate is safe for concurrent use.
type Gate struct {
	loops []*Loop
}

// NewGate makes a gate of loops, which answer in this order.
func NewGate(loops ...*Loop) *Gate { return &Gate{loops: slices.Clone(loops)} }

// LateError says that a policy did not decide in time.
type LateError struct {
	After time.Duration // the deadline
}

func (e *LateError) Error() string {
	return fmt.Sprintf("no decision within %s, the agent may stop", e.After)
}

// Hook answers one call of a hook, see [Loop.Hook].
func (g *Gate) Hook(ctx context.Context, h *host.Host, stdin []byte) (answer host.Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = (&host.Host{}).Encode(Trouble("", fmt.Errorf("internal error: %v\n%s", r, debug.Stack())))
		}
	}()
	if h == nil {
		h = host.Detect(stdin)
	}
	ev, err := h.Decode(stdin)
	if err != nil {
		return h.Encode(Trouble("", err))
	}
	return h.Encode(Reply(ev, g.Run(ctx, ev)))
}

// Run decides an event with every policy, applies what they say and keeps it in
// their decision logs. It returns when all are done or when the longest of their
// deadlines is over; policies that are late by then let the agent go, and change
// nothing later.
func (g *Gate) Run(ctx context.Context, ev host.Event) []*Decision {
	var deadline time.Duration
	for _, l := range g.loops {
		deadline = max(deadline, l.deadline)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, &LateError{deadline})
	defer cancel()

	// A decision is kept and answered by whoever claims it first: the policy, or
	// we on its behalf when the time is up.
	claimed := make([]atomic.Bool, len(g.loops))
	done := make(chan *Decision, len(g.loops)) // a late policy must not wait for a reader
	go func() {
		for i, l := range g.loops {
			d := l.run(ctx, ev)
			if !claimed[i].CompareAndSwap(false, true) {
				return
			}
			l.keep(d)
			done <- d
		}
	}()
	out := make([]*Decision, 0, len(g.loops))
	for i, l := range g.loops {
		select {
		case d := <-done:
			out = append(out, d)
			continue
		case <-ctx.Done():
		}
		if !claimed[i].CompareAndSwap(false, true) {
			out = append(out, <-done) // it was made in time, and is being logged
			continue
		}
		d := l.decision(ev)
		d.Time = l.now()
		d.fail(interrupted(ctx))
		l.keep(d)
		out = append(out, d)
	}
	return out
}

// run is Decide and Apply but for the decision log.
func (l *Loop) run(ctx context.Context, ev host.Event) *Decision {
	ctx, cancel := context.WithTimeoutCause(ctx, l.deadline, &LateError{l.deadline})
	defer cancel()
	d := l.Decide(ctx, ev)
	l.apply(ctx, d)
	return d
}
