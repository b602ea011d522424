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

// lateError says that a policy did not decide within its deadline. It is a
// [context.DeadlineExceeded].
type lateError time.Duration

func (e lateError) Error() string {
	return fmt.Sprintf("no decision within %s, the agent may stop", time.Duration(e))
}

func (e lateError) Unwrap() error { return context.DeadlineExceeded }

// Hook answers one call of a hook: it decodes stdin, runs the loop and the others in this order,
// and encodes the answer in the host's dialect. h may be nil; the input then shows which host it
// is. Each loop has its own memory, limits and effects; the agent continues if any of them says
// so, and one that fails stops only itself.
//
// Hook never panics and never continues on an error. It answers when all loops are done or at the longest
// of their deadlines, and up to a second later where a [Recorder] takes its time. A loop that is
// late by then lets the agent stop, and changes nothing later; a source that ignores its context then
// continues in a goroutine that ends when the source returns.
func (l *Loop) Hook(ctx context.Context, h *host.Host, stdin []byte, others ...*Loop) (answer host.Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = (&host.Host{}).Encode(host.Trouble("ralph", "", fmt.Errorf("internal error: %v\n%s", r, debug.Stack())))
		}
	}()
	if h == nil {
		h = host.Detect(stdin)
	}
	loops := slices.Concat([]*Loop{l}, others)
	for _, l := range loops {
		if err := l.usable(); err != nil {
			return h.Encode(host.Trouble("ralph", "", err))
		}
	}
	if ctx == nil {
		return h.Encode(host.Trouble("ralph", "", errNoContext))
	}
	ev, err := h.Decode(stdin)
	if err != nil && off(loops) {
		return host.Answer{}
	} else if err != nil {
		return h.Encode(host.Trouble("ralph", "", err))
	}
	ctx, cancel := within(ctx, loops)
	defer cancel()
	r := newRound(loops, ev)
	go r.decide(ctx)
	return h.Encode(Reply(ev, r.collect(ctx)))
}

// off reports whether all loops are switched off, as far as that is known without an event.
func off(loops []*Loop) bool {
	return !slices.ContainsFunc(loops, func(l *Loop) bool {
		if l.project != "" || l.local {
			return !workspace.OffEarly(l.project, l.getenv)
		}
		_, off := workspace.Off("", l.getenv)
		return !off
	})
}

// within bounds ctx by the longest of the deadlines.
func within(ctx context.Context, loops []*Loop) (context.Context, context.CancelFunc) {
	var deadline time.Duration
	for _, l := range loops {
		deadline = max(deadline, l.deadline)
	}
	return context.WithTimeoutCause(ctx, deadline, lateError(deadline))
}

// A round is one event that goes through the policies of a hook. A decision is
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
		mine := false
		d := l.run(ctx, r.ev, func() bool {
			mine = r.claimed[i].CompareAndSwap(false, true)
			return mine
		})
		if !mine {
			return
		}
		r.done <- d
	}
}

// collect returns the decisions of all policies, once they are made or ctx is done.
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
		d.keep(ctx)
		out = append(out, d)
	}
	return out
}
