package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// files is the Writer of ralph's own file sources, for one event. It changes files under their locks, and holds them
// until release: a decision that is made again after a conflict takes them first, and no other process that takes them can
// interfere.
type files struct {
	world  *gatherer
	held   []string // names of the locks
	wanted []string // those that were held last
	unlock func()

	archived map[string]string // where files were moved to, by their original paths
}

// Write changes the files of the project.
func (f *files) Write(ctx context.Context, effects []rules.Effect) error {
	root := f.world.root
	if root == nil {
		return errors.New("there is no project")
	}
	changes := changesOf(effects, f.world.program.Facts(), f.world.Time)
	if err := f.hold(ctx, lockNames(root, changes)); err != nil {
		return err
	}
	err := root.Apply(ctx, changes)
	for _, c := range changes {
		if err == nil && c.Archived != "" {
			if f.archived == nil {
				f.archived = map[string]string{}
			}
			f.archived[c.Path] = c.Archived
		}
	}
	if errors.Is(err, state.ErrChanged) {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

// hold takes these locks in addition to those that it holds. It releases and takes all of them, so that they are taken
// in order.
func (f *files) hold(ctx context.Context, names []string) error {
	if !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(f.held, n) }) {
		return nil
	}
	names = slices.Concat(f.held, names)
	f.release()
	unlock, err := f.world.loop.lockFiles(ctx, names)
	if err != nil {
		return err
	}
	f.held, f.wanted, f.unlock = names, names, unlock
	return nil
}

// lockFiles takes locks shared by all processes with this state directory, or without one, a lock on all files that
// this loop writes.
func (l *Loop) lockFiles(ctx context.Context, names []string) (unlock func(), err error) {
	if l.kept.disk != nil {
		return l.kept.disk.Lock(ctx, names)
	}
	select {
	case l.kept.writing <- struct{}{}:
		return func() { <-l.kept.writing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *files) release() {
	if f.unlock != nil {
		f.unlock()
	}
	f.held, f.unlock = nil, nil
}

// lockNames returns the names of the locks for changes.
func lockNames(root *state.Root, changes []state.Change) (names []string) {
	for _, c := range changes {
		name, err := root.Target(c.Path) // several paths may lead to one file
		if err != nil {
			name = filepath.Join(root.Dir(), filepath.FromSlash(c.Path))
		}
		names = append(names, name)
	}
	return names
}

// defaultOf returns the initial document for a file of a fact.
func defaultOf(f *rules.Fact) map[string]any {
	fields, _ := f.Default.(map[string]any)
	fields = maps.Clone(fields)
	if f.Source.Value.Body {
		delete(fields, "body") // the text below the fields, which starts empty
	}
	return fields
}

// changesOf returns effects grouped by file, in order. A file is edited as its fact, one of facts, reads it.
func changesOf(effects []rules.Effect, facts []*rules.Fact, at time.Time) []state.Change {
	var out []state.Change
	sets := map[string]int{} // file to index in out
	ends := map[string]int{}
	for _, e := range effects {
		if e.Kind == rules.SetEffect {
			set := state.Set{Path: e.Path, Value: e.Value}
			format := fileFormat(e.Source)
			var create map[string]any
			if i := slices.IndexFunc(facts, func(f *rules.Fact) bool { return f.Name == e.Fact }); i >= 0 {
				if facts[i].Schema != nil {
					set.Type = facts[i].Schema
				}
				format = formatOf(facts[i])
				if e.Create {
					create = defaultOf(facts[i])
				}
			}
			_, ended := ends[e.File] // package state reports a set after an end
			if i, ok := sets[e.File]; ok && !ended {
				out[i].Sets = append(out[i].Sets, set)
				continue
			}
			sets[e.File] = len(out)
			out = append(out, state.Change{Path: e.File, Format: format, Version: e.Version, Op: state.OpSet, Sets: []state.Set{set}, Create: create})
			continue
		}
		op := state.OpDelete
		if e.Kind == rules.ArchiveEffect {
			op = state.OpArchive
		}
		// Two rules may both end a file: the one that loses nothing wins.
		if i, ok := ends[e.File]; ok {
			if op == state.OpArchive {
				out[i].Op = op
			}
			continue
		}
		ends[e.File] = len(out)
		out = append(out, state.Change{Path: e.File, Version: e.Version, Op: op, At: at})
	}
	return out
}
