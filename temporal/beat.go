package temporal

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/temporal"
)

// A heartbeat that the server accepted is a sign of life for the watch of the agent, which therefore
// ends the agent at the time at which the server counts the attempt as lost, whatever became of the worker: killed, frozen,
// or without a network.
const beats = 12 // in the time after which an attempt without one is lost

// errGone is the cause of a context whose attempt the server no longer waits for.
var errGone = errors.New("the server no longer waits for this attempt")

// attend sends heartbeats until the context that it returns is done or stop is called. alive has a value for each one that
// the server accepted. The context is done once the server refuses one, with [errGone] if it no longer waits for the attempt.
func attend(ctx context.Context, every time.Duration, beat func(context.Context) error) (attempt context.Context, alive <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signs, stopped := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(every); ; {
			once, done := context.WithTimeout(ctx, every)
			err := beat(once)
			done()
			var gone *serviceerror.NotFound
			switch {
			case errors.As(err, &gone):
				cancel(errGone)
			case sdk.IsCanceledError(err):
				cancel(err)
			case err == nil:
				select {
				case signs <- struct{}{}:
				default: // the watch has not taken the last one
				}
			}
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return ctx, signs, func() { cancel(nil); <-stopped }
}
