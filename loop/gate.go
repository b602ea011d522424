package loop

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/workspace"
)

// Gate is several policies that answer one hook. Each has its own memory, bounds
// and effects; the agent goes on if any of them says so. A policy that fails
// stops only itself. A Gate is safe for concurrent use.
type Gate struct {
	loops []*Loop
}

// NewGate makes a gate of loops, which answer in this order.
func NewGate(loops ...*Loop) *Gate { return &Gate{loops: slices.Clone(loops)} }

// lateError says that a policy did not decide within its deadline. It is a
// [context.DeadlineExceeded].
type lateError time.Duration

func (e lateError) Error() string {
	return fmt.Sprintf("no decision within %s, the agent may stop", time.Duration(e))
}

func (e lateError) Unwrap() error { return context.DeadlineExceeded }

// Hook answers one call of a hook, see [Loop.Hook].
func (g *Gate) Hook(ctx context.Context, h *host.Host, stdin []byte) (answer host.Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = (&host.Host{}).Encode(host.Trouble("ralph", "", fmt.Errorf("internal error: %v\n%s", r, debug.Stack())))
		}
	}()
	if h == nil {
		h = host.Detect(stdin)
	}
	ev, err := h.Decode(stdin)
	if err != nil && g.off() {
		return host.Answer{}
	} else if err != nil {
		return h.Encode(host.Trouble("ralph", "", err))
	}
	return h.Encode(Reply(ev, g.Run(ctx, ev)))
}

// off reports whether all loops are switched off, as far as that is known without an event.
func (g *Gate) off() bool {
	return len(g.loops) > 0 && !slices.ContainsFunc(g.loops, func(l *Loop) bool {
		if l.project != "" || l.local {
			return !workspace.OffEarly(l.project, l.getenv)
		}
		_, off := workspace.Off("", l.getenv)
		return !off
	})
}

// Run decides an event with every policy, applies what they say and keeps it in
// their decision logs. It returns when all are done or when the longest of their
// deadlines is over; policies that are late by then let the agent stop, and
// change nothing later.
func (g *Gate) Run(ctx context.Context, ev host.Event) []*Decision {
	ctx, cancel := g.within(ctx)
	defer cancel()
	r := newRound(g.loops, ev)
	go r.decide(ctx)
	return r.collect(ctx)
}

// within bounds ctx by the longest of the deadlines.
func (g *Gate) within(ctx context.Context) (context.Context, context.CancelFunc) {
	var deadline time.Duration
	for _, l := range g.loops {
		deadline = max(deadline, l.deadline)
	}
	if deadline == 0 { // there is no policy that could be late
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, deadline, lateError(deadline))
}

// A round is one event that goes through the policies of a gate. A decision is
// kept and answered by the first that claims it: its policy in decide, or collect
// on its behalf when the time is up.
type round struct {
	loops   []*Loop
	ev      host.Event
	claimed []atomic.Bool
	done    chan *Decision
}

func newRound(loops []*Loop, ev host.Event) *round {
	return &round{
		loops: loops, ev: ev, claimed: make([]atomic.Bool, len(loops)),
		done: make(chan *Decision, len(loops)), // a late policy must not wait for a reader
	}
}

// decide asks one policy after another, until one comes back too late.
func (r *round) decide(ctx context.Context) {
	for i, l := range r.loops {
		d := l.run(ctx, r.ev)
		if !r.claimed[i].CompareAndSwap(false, true) {
			return
		}
		l.keep(ctx, d)
		r.done <- d
	}
}

// collect gives the decisions of all policies, once they are there or ctx is done.
func (r *round) collect(ctx context.Context) []*Decision {
	out := make([]*Decision, 0, len(r.loops))
	for i, l := range r.loops {
		select {
		case d := <-r.done:
			out = append(out, d)
			continue
		case <-ctx.Done():
		}
		if !r.claimed[i].CompareAndSwap(false, true) {
			out = append(out, <-r.done) // it was made in time, and is being logged
			continue
		}
		d := l.decision(r.ev)
		d.Time = l.now()
		d.fail(interrupted(ctx))
		l.keep(ctx, d)
		out = append(out, d)
	}
	return out
}

// run is Decide and Apply but for the decision log.
func (l *Loop) run(ctx context.Context, ev host.Event) *Decision {
	ctx, cancel := l.within(ctx)
	defer cancel()
	d := l.decided(ctx, ev)
	l.apply(ctx, d)
	return d
}
