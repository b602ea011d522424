package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interrupts turns signals into the wishes of a person: the first Ctrl-C closes the channel, which ends a run after the iteration. A second
// one, a request to end, and a terminal that closes end ctx. A closed pipe or a full file becomes an error of a write.
func (a *app) interrupts(ctx context.Context) (<-chan struct{}, context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	first, signals := make(chan struct{}), make(chan os.Signal, 2)
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		wanted = append(wanted, syscall.SIGHUP)
	}
	signal.Notify(signals, wanted...)
	reportWriteErrors()
	go func() {
		for pressed := false; ; pressed = true {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				if pressed || s != os.Interrupt {
					cancel()
					return
				}
				fmt.Fprintln(a.stderr, "ralph: the run ends after this iteration; Ctrl-C again ends it now")
				close(first)
			}
		}
	}()
	return first, ctx, func() { signal.Stop(signals); cancel() }
}
