package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
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

// Hook answers one call of a hook, see [Loop.Hook].
func (g *Gate) Hook(ctx context.Context, h *host.Host, stdin []byte) (answer host.Answer) {
	if h == nil {
		h = host.Detect(stdin)
	}
	defer func() {
		if r := recover(); r != nil {
			answer = h.Encode(Trouble("", fmt.Errorf("internal error: %v\n%s", r, debug.Stack())))
		}
	}()
	ev, err := h.Decode(stdin)
	if err != nil {
		return h.Encode(Trouble("", err))
	}
	return h.Encode(Reply(ev, g.Run(ctx, ev)))
}

// Run decides an event with every policy and applies what they say. It returns
// when all are done or when the longest of their deadlines is over; policies that
// are late then let the agent go.
func (g *Gate) Run(ctx context.Context, ev host.Event) []*Decision {
	var deadline time.Duration
	for _, l := range g.loops {
		deadline = max(deadline, l.deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	done := make(chan *Decision, len(g.loops)) // buffered: a late policy must not wait for a reader
	go func() {
		for _, l := range g.loops {
			done <- l.run(ctx, ev)
		}
	}()
	var out []*Decision
	for _, l := range g.loops {
		select {
		case d := <-done:
			out = append(out, d)
			continue
		case <-ctx.Done():
		}
		d := &Decision{Policy: l.name, Event: ev, Time: l.now()}
		d.fail(fmt.Errorf("no decision within %s, the agent may stop", deadline))
		out = append(out, d)
	}
	return out
}

// run is Decide and Apply. It never panics.
func (l *Loop) run(ctx context.Context, ev host.Event) *Decision {
	d, _ := l.Apply(ctx, l.Decide(ctx, ev)) // the error is in the decision
	return d
}

// Reply joins the decisions on one event into what its host is to hear.
func Reply(ev host.Event, decisions []*Decision) host.Reply {
	r := host.Reply{Event: ev.Name}
	var reasons, notices []string
	for _, d := range decisions {
		if d.Continue() {
			r.Continue = true
			reason := d.Verdict.Reason
			if len(decisions) > 1 {
				reason = "[" + d.Policy + "]\n" + reason
			}
			reasons = append(reasons, reason)
		}
		for _, n := range d.Notices {
			if !slices.Contains(notices, n) {
				notices = append(notices, n)
			}
		}
		r.Log = append(r.Log, d.Log...)
	}
	r.Reason = strings.Join(reasons, "\n\n")
	if ev.Name == "UserPromptSubmit" {
		r.Context = strings.Join(notices, "\n")
	} else {
		r.Notice = strings.Join(notices, "\n")
	}
	return r
}

// Trouble is the reply when no policy could be asked: the agent may stop, and the
// person hears why. What is merely no event of a project (an empty input, one that
// names no usable directory) goes to the person alone and not to stderr, which
// some hosts show as an error of the hook.
func Trouble(event string, err error) host.Reply {
	message := strings.TrimSpace(err.Error())
	first, _, _ := strings.Cut(message, "\n")
	r := host.Reply{Event: event, Notice: "[ralph] " + first}
	var root *RootError
	var input *host.InputError
	if errors.As(err, &root) || errors.As(err, &input) && !input.Garbled {
		return r
	}
	for line := range strings.SplitSeq(message, "\n") {
		r.Log = append(r.Log, "[ralph] "+line)
	}
	return r
}
