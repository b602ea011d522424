package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// maxRounds bounds how often a decision is made again because a writer that
// takes no lock changed a file meanwhile.
const maxRounds = 8

// Apply makes a decision true: memory, effects, decision log, in this order. If a
// file or the memory changed since the decision was made, it is made again under
// the locks of all that it reads, so the result may differ: answer the decision
// that Apply returns. An error means that the policy could not be followed; the
// decision then lets the agent stop and says why.
//
// ctx bounds the waiting for locks. Apply releases what d holds open.
func (l *Loop) Apply(ctx context.Context, d *Decision) (out *Decision, err error) {
	defer d.Close()
	defer func() {
		if r := recover(); r != nil {
			d.fail(fmt.Errorf("internal error: %v\n%s", r, debug.Stack()))
		}
		if logErr := l.record(d); logErr != nil && d.gatherer != nil {
			d.notice(l.program.Prefix, logErr.Error())
		}
		out, err = d, d.Err
	}()
	if d.gatherer == nil || d.Err != nil {
		return d, d.Err
	}
	if err := l.commit(ctx, d); err != nil {
		d.fail(err)
		return d, err
	}
	d.Applied = true
	l.finish(ctx, d)
	return d, nil
}

// commit writes memory and effects, deciding again where that is needed.
func (l *Loop) commit(ctx context.Context, d *Decision) error {
	if d.Event.Name == "UserPromptSubmit" || !l.writes(d) {
		return nil
	}
	held := map[string]bool{}
	for range maxRounds {
		names := l.lockNames(d)
		for _, n := range names {
			held[n] = true
		}
		unlock, err := l.store.Lock(ctx, names)
		if err != nil {
			return fmt.Errorf("ralph's own directory cannot be used, so the loop cannot be counted: %w", err)
		}
		again, err := l.commitLocked(ctx, d, held)
		unlock()
		if err != nil {
			return err
		}
		if !again {
			return nil
		}
	}
	return errors.New("the files of this loop change faster than they can be decided on")
}

// commitLocked writes while the locks are held. It reports true if the decision
// now reads files whose locks are not held.
func (l *Loop) commitLocked(ctx context.Context, d *Decision, held map[string]bool) (again bool, err error) {
	g := d.gatherer
	if g.mem.stale(l.store) {
		d.evaluate(ctx)
	}
	original := g.mem
	for range maxRounds {
		for _, n := range l.lockNames(d) {
			if !held[n] {
				return true, nil
			}
		}
		if err := original.save(l.store, d.Verdict, l.program, d.Time); err != nil {
			return false, fmt.Errorf("the loop cannot be counted, so it ends: %w", err)
		}
		err := g.root.Apply(ctx, changes(d.Verdict))
		if err == nil {
			return false, nil
		}
		if !errors.Is(err, state.ErrChanged) {
			return false, fmt.Errorf("the changes of rule %s cannot be made, so the loop ends: %w", d.Verdict.Rule, err)
		}
		// Somebody who takes no lock wrote between reading and writing. The count
		// that was just saved is this very event's: the next save replaces it.
		d.evaluate(ctx)
		version, projectVersion := g.mem.version, g.mem.projectVersion
		g.mem = original
		g.mem.version, g.mem.projectVersion = version, projectVersion
		original = g.mem
	}
	return false, errors.New("the files of this loop change faster than they can be decided on")
}

// writes reports whether a decision changes memory or files.
func (l *Loop) writes(d *Decision) bool {
	_, _, changed, projectChanged := d.gatherer.mem.after(d.Verdict, l.program, d.Time)
	return changed || projectChanged || len(changes(d.Verdict)) > 0
}

// lockNames names the locks of a decision: its memory and the files it changes.
func (l *Loop) lockNames(d *Decision) []string {
	g := d.gatherer
	names := []string{"memory/" + g.mem.key}
	if countsProject(l.program) {
		names = append(names, "memory/"+g.mem.projectKey)
	}
	for _, c := range changes(d.Verdict) {
		names = append(names, filepath.Join(d.Root, filepath.FromSlash(c.Path)))
	}
	return names
}

// changes groups the effects of a verdict by file, in order.
func changes(v *rules.Verdict) []state.Change {
	var out []state.Change
	at := map[string]int{}
	for _, part := range v.Parts {
		for _, e := range part.Effects {
			switch e.Kind {
			case rules.SetEffect:
				set := state.Set{Path: e.Path, Value: e.Value}
				if i, ok := at[e.File]; ok && out[i].Op == state.OpSet {
					out[i].Sets = append(out[i].Sets, set)
					continue
				}
				format := state.JSON
				if e.Source == "frontmatter" {
					format = state.FrontMatter
				}
				at[e.File] = len(out)
				out = append(out, state.Change{Path: e.File, Format: format, Version: e.Version, Op: state.OpSet, Sets: []state.Set{set}})
			case rules.DeleteEffect, rules.ArchiveEffect:
				op := state.OpDelete
				if e.Kind == rules.ArchiveEffect {
					op = state.OpArchive
				}
				// What becomes of the file counts; values set in it before do not.
				if i, ok := at[e.File]; ok {
					out[i] = state.Change{Path: e.File, Version: e.Version, Op: op}
					continue
				}
				at[e.File] = len(out)
				out = append(out, state.Change{Path: e.File, Version: e.Version, Op: op})
			}
		}
	}
	return out
}

// stale reports whether the memory on disk is no longer what was decided on.
func (m *memory) stale(s *state.Store) bool {
	_, version, err := s.LoadMemory(m.key)
	if err == nil && version != m.version {
		return true
	}
	if m.projectVersion == "" {
		_, version, err = s.LoadMemory(m.projectKey)
		return err == nil && version != ""
	}
	_, version, err = s.LoadMemory(m.projectKey)
	return err == nil && version != m.projectVersion
}

// save writes the memory as it is after a verdict.
func (m *memory) save(s *state.Store, v *rules.Verdict, p *rules.Program, now time.Time) error {
	session, project, changed, projectChanged := m.after(v, p, now)
	if changed {
		if err := s.SaveMemory(m.key, session, m.version); err != nil {
			return err
		}
	}
	if projectChanged {
		return s.SaveMemory(m.projectKey, project, m.projectVersion)
	}
	return nil
}

// finish does what follows an applied verdict: prunes of rules and of finally.
// It is best effort: a file that cannot be removed today is removed tomorrow.
func (l *Loop) finish(ctx context.Context, d *Decision) {
	var effects []rules.Effect
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			if e.Kind == rules.PruneEffect {
				effects = append(effects, e)
			}
		}
	}
	for _, e := range append(effects, d.Verdict.Finally...) {
		switch e.Kind {
		case rules.PruneEffect:
			if _, err := d.gatherer.root.Prune(ctx, e.Glob, e.Older, d.Time); err != nil {
				d.Verdict.Trace.Warnings = append(d.Verdict.Trace.Warnings, "prune "+e.Glob+": "+err.Error())
			}
		case rules.LogEffect:
			d.tellPart(l.program.Prefix, rules.Part{Log: e.Text})
		}
	}
	_ = l.store.Clean(d.Time, memoryAge) // an old memory that stays does no harm
}

// memoryAge is how long the memory of a session is kept after it was last used.
const memoryAge = 30 * 24 * time.Hour
