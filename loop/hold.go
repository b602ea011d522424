package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// errHeld is the error of Hold while another run holds the name.
var errHeld = fmt.Errorf("another run holds it: %w", fs.ErrExist)

// The lock of a name is free at once, or held for long.
const (
	takeHold = 2 * time.Second // Hold waits so long, also for a machine that is busy
	seeHold  = time.Second     // Held: if it is too short, an agent may stop
)

// Hold calls f while a run holds a name in the loop's project, in all processes that share the store. While it is the name of a policy,
// events of that policy which are not of a run are not decided: their agents may stop. The hold ends with f, or with the process, however
// that ends; f may make decisions of the run.
//
// The error wraps fs.ErrExist if another run has the name, else it is that of f or of the store.
func (l *Loop) Hold(ctx context.Context, name, run string, f func() error) error {
	ctx, cancel := context.WithCancelCause(cmp.Or(ctx, context.Background()))
	defer cancel(nil)
	late := time.AfterFunc(takeHold, func() { cancel(errHeld) })
	var failed error
	err := l.update(ctx, l.key("hold", l.root, name), func(*document) error {
		if !late.Stop() {
			return errHeld
		}
		running := context.WithoutCancel(ctx)
		if err := l.changeProject(running, func(d *document) { d.Runs[name] = run }); err != nil {
			return err
		}
		failed = f()
		return l.changeProject(running, func(d *document) { delete(d.Runs, name) })
	})
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, errHeld):
		return fmt.Errorf("%s: %w", name, errHeld)
	}
	return err
}

// Held returns the ID of the run that holds a name in the loop's project, or "".
func (l *Loop) Held(ctx context.Context, name string) (string, error) {
	d, err := l.project(ctx)
	if err != nil || d.Runs[name] == "" {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(cmp.Or(ctx, context.Background()), seeHold, errHeld)
	defer cancel()
	err = l.update(ctx, l.key("hold", l.root, name), func(*document) error { return nil })
	if errors.Is(err, errHeld) {
		return d.Runs[name], nil
	}
	return "", err // nil: it was killed
}
