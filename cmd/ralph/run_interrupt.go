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

// interruption has the channels for interrupting a run.
type interruption struct {
	first chan struct{}           // closed by the first Ctrl-C
	note  chan string             // what to print about it
	now   context.CancelCauseFunc // ends the run immediately
}

// interruptions turns signals into interruptions. A second Ctrl-C, a termination signal, and closing the terminal end a
// run immediately: the context that it returns is then done.
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

// endSignals returns the signals that terminate ralph.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if signal.Ignored(syscall.SIGHUP) { // as nohup does
		return signals
	}
	return append(signals, syscall.SIGHUP)
}

// outlet ends the run once stdout is closed, which would otherwise kill the process and leave the agent's processes.
type outlet struct {
	io.Writer
	now context.CancelCauseFunc
}

func (o outlet) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.now(errors.New("its output no longer has a reader"))
	}
	return n, err
}

// withOutlet adds an outlet below the screen of an output.
func withOutlet(w io.Writer, now context.CancelCauseFunc) io.Writer {
	return &screen{to: outlet{unscreened(w), now}}
}
