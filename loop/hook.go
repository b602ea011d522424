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

// lateError reports that a policy did not decide before its deadline. It is a [context.DeadlineExceeded].
type lateError time.Duration

func (e lateError) Error() string {
	return fmt.Sprintf("no decision within %s, the agent may stop", time.Duration(e))
}

func (e lateError) Unwrap() error { return context.DeadlineExceeded }

// Hook answers one hook call: it decodes stdin, runs the loop and then others, and encodes the answer for the host. If
// h is nil, Hook detects the host from the input. Each loop has its own memory, limits and effects. The agent continues
// if any loop decides so; a loop that fails stops only itself.
//
// Hook never panics and never continues on an error. It returns when all loops are done or at the longest of their
// deadlines, and up to a second later if a [Recorder] is slow. A loop that is late lets the agent stop and changes
// nothing afterwards; a source that ignores its context then continues in a goroutine until it returns.
func (l *Loop) Hook(ctx context.Context, h *host.Host, stdin []byte, others ...*Loop) (answer host.Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = (&host.Host{}).Encode(host.Trouble("ralph", "", fmt.Errorf("internal error: %v\n%s", r, debug.Stack())))
		}
	}()
	if h == nil {
		h = host.Detect(stdin)
	}
	loops, deadline := slices.Concat([]*Loop{l}, others), time.Duration(0)
	for _, l := range loops {
		if err := l.usable(); err != nil {
			return h.Encode(host.Trouble("ralph", "", err))
		}
		deadline = max(deadline, l.deadline)
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
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, lateError(deadline))
	defer cancel()
	return h.Encode(Reply(ev, runAll(ctx, ev, loops)))
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

// runAll runs the loops until ctx is done. A decision is recorded and answered by the first that claims it: its loop,
// or on its behalf, when the time is up, this function.
func runAll(ctx context.Context, ev host.Event, loops []*Loop) []*Decision {
	claimed := make([]atomic.Bool, len(loops))
	done := make(chan *Decision, len(loops)) // buffered, so that a late policy never blocks
	go func() {
		for i, l := range loops {
			mine := false
			d := l.run(ctx, ev, func() bool {
				mine = claimed[i].CompareAndSwap(false, true)
				return mine
			})
			if !mine {
				return
			}
			done <- d
		}
	}()
	out := make([]*Decision, len(loops))
	for i, l := range loops {
		select {
		case out[i] = <-done:
			continue
		case <-ctx.Done():
		}
		if !claimed[i].CompareAndSwap(false, true) {
			out[i] = <-done // made in time, and being logged
			continue
		}
		out[i] = l.decision(ev)
		out[i].Time = l.now()
		out[i].fail(interrupted(ctx))
		out[i].keep(ctx)
	}
	return out
}
