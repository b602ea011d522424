package loop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/rules"
)

// lateError reports that a policy did not decide before its deadline. It is a [context.DeadlineExceeded].
type lateError time.Duration

func (e lateError) Error() string {
	return fmt.Sprintf("no decision within %s, the agent may stop", time.Duration(e))
}

func (e lateError) Unwrap() error { return context.DeadlineExceeded }

// Hook answers the hook calls of a host. It is the one way from a hook's input to its answer: [Loop.Hook] and ralph eval
// take it too. It is safe for concurrent use if Loops is.
type Hook struct {
	// Loops is required. It returns the loops that decide an event, in the order of their reasons, each once, and notices for the user
	// about policies that do not decide. An input that is not an event is not reported if all loops of an event without a
	// directory are off. The deadlines of the loops do not bound it; the context does.
	Loops func(ctx context.Context, ev host.Event) (loops []*Loop, notices []string, err error)

	Host    *host.Host // that sends the input; nil detects it
	Session string     // of an input that names neither a session nor a directory, which is then about the working directory; "" is none
	Preview bool       // decide, and change nothing
}

// Event reads a hook's input, see [host.Read].
func (k Hook) Event(stdin []byte) (*host.Host, host.Event, error) {
	h, ev, err := host.Read(stdin, k.Host)
	switch {
	case k.Session == "":
	case err != nil && len(bytes.TrimSpace(stdin)) == 0:
		return h, host.Event{Host: h.Name, Name: host.Stop, SessionID: k.Session, Cwd: ".", LoopCount: -1}, nil
	case err == nil && ev.SessionID == "" && ev.Cwd == "":
		ev.SessionID, ev.Cwd = k.Session, "."
	}
	return h, ev, err
}

// Reply decides the event in a hook's input with every loop, and returns the reply and the host that reads it. Each loop
// has its own memory, limits and effects. The agent continues if any loop decides so; a loop that fails stops only
// itself.
//
// Reply never panics and never continues on an error. It returns when all loops are done or at the longest of their
// deadlines, and up to a second later for each [Recorder] that is slow. A loop that is late lets the agent stop, see
// [WithDeadline].
func (k Hook) Reply(ctx context.Context, stdin []byte) (h *host.Host, r host.Reply) {
	h = &host.Host{}
	defer func() {
		if p := recover(); p != nil {
			r = host.Trouble("ralph", "", &rules.PanicError{Value: p, Stack: debug.Stack()})
		}
	}()
	h, ev, err := k.Event(stdin)
	switch {
	case ctx == nil:
		return h, host.Trouble("ralph", ev.Name, errNoContext)
	case k.Loops == nil:
		return h, host.Trouble("ralph", ev.Name, errors.New("the hook has no function that returns its loops"))
	}
	ev.ID = cmp.Or(ev.ID, delivery(ctx))
	loops, notices, failed := k.Loops(ctx, ev)
	var deadline time.Duration
	for i, l := range loops {
		if failed == nil {
			failed = l.usable()
		}
		if failed == nil && slices.Contains(loops[:i], l) {
			failed = fmt.Errorf("the loop %s decides the event twice: pass each loop once", l.name)
		}
		if l != nil {
			deadline = max(deadline, l.bounds.deadline)
		}
	}
	switch {
	case err != nil && failed == nil && !slices.ContainsFunc(loops, func(l *Loop) bool { return !l.off() }):
		return h, host.Reply{}
	case err != nil || failed != nil:
		return h, host.Trouble("ralph", ev.Name, cmp.Or(err, failed))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, lateError(deadline))
	defer cancel()
	r = reply(ev, k.decide(ctx, ev, loops))
	if len(notices) > 0 {
		r.Notice = strings.TrimSuffix(strings.Join(append(slices.Clone(notices), r.Notice), "\n"), "\n")
		r.Log = append(slices.Clone(notices), r.Log...)
	}
	return h, r
}

// Hook answers one hook call with this loop and then others, see [Hook.Reply]. If h is nil, it detects the host from the
// input.
func (l *Loop) Hook(ctx context.Context, h *host.Host, stdin []byte, others ...*Loop) host.Answer {
	loops := slices.Concat([]*Loop{l}, others)
	h, r := Hook{Host: h, Loops: func(context.Context, host.Event) ([]*Loop, []string, error) { return loops, nil, nil }}.Reply(ctx, stdin)
	return h.Encode(r)
}

// off reports whether the loop is switched off, as far as that is known without an event.
func (l *Loop) off() bool {
	root := ""
	if l.project.root != "" || l.project.local {
		root = workspace.Named(l.project.root, l.getenv)
	}
	_, off := workspace.Off(root, l.offEnv)
	return off
}

// decide decides the event with each loop, in order. Once ctx is done, the others are late.
func (k Hook) decide(ctx context.Context, ev host.Event, loops []*Loop) []*Decision {
	out := make([]*Decision, len(loops))
	for i, l := range loops {
		if k.Preview {
			out[i] = l.Preview(ctx, ev)
		} else {
			out[i] = l.run(ctx, ev)
		}
	}
	return out
}
