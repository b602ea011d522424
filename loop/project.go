package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// changeProject changes the document of the project: what is not decided there.
func (l *Loop) changeProject(ctx context.Context, change func(*document)) error {
	return l.update(ctx, l.key("project", l.root), func(d *document) error {
		change(d)
		return nil
	})
}

// Stop lets agents of the loop's project stop, whatever its policy says, until Undo: for one policy, or for all of the project if it is
// "". The policy need not be the loop's.
func (l *Loop) Stop(ctx context.Context, policy string) error {
	return l.changeProject(ctx, func(d *document) { d.Stops[policy] = l.now() })
}

// Undo undoes Stop for one policy, or for all of the project if it is "". It may be called without a stop.
func (l *Loop) Undo(ctx context.Context, policy string) error {
	return l.changeProject(ctx, func(d *document) {
		maps.DeleteFunc(d.Stops, func(stopped string, _ time.Time) bool { return policy == "" || stopped == policy })
	})
}

// Stops returns what Stop stopped, and when: names of policies, and "" for all.
func (l *Loop) Stops(ctx context.Context) (map[string]time.Time, error) {
	d, err := l.load(ctx, l.key("project", l.root))
	if err != nil {
		return nil, err
	}
	return d.Stops, nil
}

// Off returns why events are not decided, or "": a person switched ralph off, or stopped the policy.
func (l *Loop) Off(ctx context.Context) (string, error) { return l.off(ctx, true) }

// off is Off, and for an event that is not of a run, that a run decides by the policy in the project.
func (l *Loop) off(ctx context.Context, run bool) (why string, err error) {
	defer caught(&err)
	if v, ok := l.env("RALPH_OFF"); ok && !slices.Contains([]string{"", "0", "false", "no"}, strings.ToLower(strings.TrimSpace(v))) {
		return "RALPH_OFF is set", nil
	}
	if l.root != "" {
		file := filepath.Join(l.root, ".ralph", "off")
		if _, err := os.Lstat(file); err == nil {
			return file + " exists", nil
		}
	}
	d, err := l.load(ctx, l.key("project", l.root))
	if err != nil {
		return "", err
	}
	name := l.policy.Name
	_, one := d.Stops[name]
	if _, all := d.Stops[""]; one || all {
		return "a person stopped it", nil
	}
	if d.Runs[name] == "" || run || l.root == "" {
		return "", nil
	}
	id, err := l.Held(ctx, name)
	if id == "" {
		return "", err
	}
	return "the run " + id + " decides by this policy here", nil
}

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
	d, err := l.load(ctx, l.key("project", l.root))
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
