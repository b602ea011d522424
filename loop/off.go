package loop

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// project returns the document of the project: what is not decided there.
func (l *Loop) project(ctx context.Context) (*document, error) {
	return l.load(ctx, l.key("project", l.root))
}

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
		if policy == "" {
			clear(d.Stops)
		}
		delete(d.Stops, policy)
	})
}

// Stops returns what Stop stopped, and when: names of policies, and "" for all.
func (l *Loop) Stops(ctx context.Context) (map[string]time.Time, error) {
	d, err := l.project(ctx)
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
	d, err := l.project(ctx)
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
