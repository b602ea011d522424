package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// interruption is how a run is interrupted.
type interruption struct {
	first chan struct{}           // closed by the first Ctrl-C
	note  chan string             // what to report of that
	now   context.CancelCauseFunc // ends the run at once
}

// interruptions turns signals into interruptions. What ends a run at once is the second Ctrl-C, a request to end, and a
// terminal that is closed. The context that it gives is done then.
func interruptions(ctx context.Context, first chan struct{}) (interruption, context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	in := interruption{first: first, note: make(chan string, 1), now: cancel}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endSignals()...)
	go func() {
		for pressed := false; ; pressed = true {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				switch {
				case s != os.Interrupt:
					cancel(fmt.Errorf("signal %s", s))
					return
				case pressed:
					cancel(errors.New("Ctrl-C was pressed twice"))
					return
				}
				in.note <- "the run ends after this iteration; press Ctrl-C again to end it now"
				close(in.first)
			}
		}
	}()
	return in, ctx, func() { signal.Stop(signals); cancel(nil) }
}

// endSignals are those that ask ralph to end.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if signal.Ignored(syscall.SIGHUP) { // as nohup does
		return signals
	}
	return append(signals, syscall.SIGHUP)
}

// outlet ends the run once stdout has no reader any more, where the process would be killed and the agent's processes left over.
type outlet struct {
	io.Writer
	now context.CancelCauseFunc
}

func (o outlet) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.now(errors.New("its output has no reader any more"))
	}
	return n, err
}

// withOutlet puts an outlet beneath the screen of an output.
func withOutlet(w io.Writer, now context.CancelCauseFunc) io.Writer {
	return &screen{to: outlet{unscreened(w), now}}
}
