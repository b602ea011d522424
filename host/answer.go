package host

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Answer is a hook of a program with loops of its own: it reads the input, lets the loops decide in their order, writes the answer, and
// returns the exit status, which is 0. What goes wrong lets the agent stop, and the answer says why; a panic of a loop or of its
// functions too, since a host takes the status of a Go program that crashes for a continuation.
func Answer(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, loops ...*loop.Loop) (status int) {
	input, err := io.ReadAll(io.LimitReader(stdin, MaxInput+1))
	h, ev, bad := Decode("", input, os.Getenv)
	if bad != nil {
		err = bad
	}
	var decisions []loop.Decision
	switch {
	case err != nil:
		decisions = []loop.Decision{{Policy: "ralph", Outcome: rules.Failed, Err: err}}
	case ev.Session == "" && ev.Dir == "":
		return 0
	default:
		for _, l := range loops {
			decisions = append(decisions, decide(ctx, l, ev))
		}
	}
	r := Encode(h, ev.Name, decisions, AsJSON)
	_, _ = stderr.Write(r.Stderr) // the answer is what counts
	if _, err := stdout.Write(r.Stdout); err != nil {
		return 1 // the host has no answer, so the agent stops
	}
	return r.Status
}

func decide(ctx context.Context, l *loop.Loop, ev loop.Event) (d loop.Decision) {
	defer func() {
		if p := recover(); p != nil {
			d = loop.Decision{Policy: "ralph", Outcome: rules.Failed, Err: fmt.Errorf("a panic: %v", p)}
		}
	}()
	d, err := l.Decide(ctx, ev)
	if err != nil {
		d.Outcome, d.Err = rules.Failed, cmp.Or(d.Err, err)
	}
	return d
}
