package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// A loopFile is the file whose presence is a loop: the front matter that a policy
// is about, at a path that no event has to tell.
type loopFile struct {
	policy  policy
	fact    *rules.Fact
	path    string
	session string // that alone reads the file; "" if all sessions do
}

// name is the policy, with the session whose loop it is alone.
func (l loopFile) name() string {
	if l.session == "" {
		return l.policy.shortName()
	}
	return l.policy.shortName() + " of session " + visible(l.session)
}

// args are the arguments of commands that are about this loop alone.
func (l loopFile) args() string {
	if l.session == "" {
		return l.policy.shortName()
	}
	return l.policy.shortName() + " --session " + shellQuote(runtime.GOOS, l.session)
}

// ofSession gives the loop file that one session has for itself; ok is false if the policy
// knows none.
func (l loopFile) ofSession(session string) (own loopFile, ok bool, err error) {
	pattern, ok := l.fact.File("*")
	if !ok {
		return l, false, nil
	}
	l.session = session
	l.path, err = ownPath(pattern, session)
	return l, true, err
}

// all gives the loop file that all sessions share, be it there or not, and those that
// single sessions have.
func (l loopFile) all(ctx context.Context, root *state.Root) []loopFile {
	files := []loopFile{l}
	pattern, _ := l.fact.File("*")
	for _, own := range ownFiles(ctx, root, pattern) {
		l.path, l.session = own.path, own.session
		files = append(files, l)
	}
	return files
}

// absent reports whether there is no loop: nothing is in the place of the file.
func (l loopFile) absent(root *state.Root, r loopState) bool {
	return r.doc.Status == state.Missing && r.doc.Quiet && !root.Exists(l.path)
}

// The fields that commands know, by the names under which policies have them.
func counterFields() []string { return []string{"iteration", "iteration_count", "globalIteration"} }
func maximumFields() []string { return []string{"max_iterations", "maxGlobalIterations"} }
func promiseFields() []string { return []string{"completion_promise"} }
func activeFields() []string  { return []string{"active"} }
func ownerFields() []string   { return []string{"session_id"} }
func startedFields() []string { return []string{"started_at"} }

// field gives the first of names that the schema of the file declares.
func (l loopFile) field(names []string) (name string, t *schema.Type) {
	if l.fact == nil || l.fact.Schema == nil {
		return "", nil
	}
	for _, name := range names {
		if t := l.fact.Schema.Type().At(name); t != nil {
			return name, t
		}
	}
	return "", nil
}

// openLoop loads a policy and finds its loop file; ok is false if it has none.
func (a *app) openLoop(ctx context.Context, root, name string) (l loopFile, ok bool, err error) {
	p, program, err := a.open(ctx, root, name, nil)
	if err != nil {
		return l, false, err
	}
	l.policy, l.fact = p, program.Inline()
	if l.fact == nil || !l.fact.Source.Body {
		return l, false, nil
	}
	l.path, ok = l.fact.File("")
	return l, ok, nil
}

// loopFiles finds the policies of a project that have a loop file, be it there or
// not. Policies that cannot be loaded are left out: doctor reports them.
func (a *app) loopFiles(ctx context.Context, root *state.Root) []loopFile {
	var found []loopFile
	for _, name := range projectPolicies(root.Dir()) {
		l, ok, err := a.openLoop(ctx, root.Dir(), name)
		if err == nil && ok && !slices.ContainsFunc(found, func(o loopFile) bool { return o.path == l.path }) {
			found = append(found, l.all(ctx, root)...)
		}
	}
	return found
}

// loopState is what a loop file says.
type loopState struct {
	doc      state.Doc
	values   map[string]any // by the schema
	unusable []string       // fields that have no value
}

func (l loopFile) read(ctx context.Context, root *state.Root) loopState {
	return readState(ctx, root, l.fact, l.path)
}

func readState(ctx context.Context, root *state.Root, f *rules.Fact, path string) loopState {
	r := loopState{doc: root.Read(ctx, state.File{Path: path, Format: formatOf(f), Schema: f.Schema})}
	if r.doc.Status == state.OK && f.Schema != nil {
		checked := f.Schema.Check(r.doc.Document)
		r.values, _ = checked.Value.(map[string]any)
		for _, u := range append(checked.Unusable, r.doc.Unusable...) {
			r.unusable = append(r.unusable, u.String())
		}
	}
	return r
}

// formatOf is how the file of a fact is understood.
func formatOf(f *rules.Fact) state.Format {
	switch {
	case !f.Source.Body:
		return state.JSON
	case f.Options["lenient"] == true:
		return state.LenientFrontMatter
	}
	return state.FrontMatter
}

// number gives the value of the first of these fields that is one.
func (r loopState) number(names []string) (int, bool) {
	for _, name := range names {
		if n, ok := r.values[name].(int); ok {
			return n, true
		}
	}
	return 0, false
}

func (r loopState) text(names []string) string {
	for _, name := range names {
		if s, ok := r.values[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// paused reports whether the file itself says that the loop does not run.
func (r loopState) paused() bool {
	active, ok := r.values[activeFields()[0]].(bool)
	return ok && !active
}

// progress says how far it is: iteration 3 of 20, or task 2 of 5, iteration 3 of 20.
func (r loopState) progress() string {
	var parts []string
	if total, ok := r.number(totalFields()); ok && total > 0 {
		part := plural(total, "task") + " done"
		if n, ok := r.number(indexFields()); ok && n < total {
			part = fmt.Sprintf("task %d of %d", n+1, total)
		}
		parts = append(parts, part)
	}
	if n, ok := r.number(counterFields()); ok {
		part := fmt.Sprintf("iteration %d", n)
		if limit, ok := r.number(maximumFields()); ok && limit > 0 {
			part += fmt.Sprintf(" of %d", limit)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// change makes one change to the loop file, under the lock that hooks take.
func (a *app) change(ctx context.Context, root *state.Root, c *state.Change) error {
	if own, err := a.store(); err == nil {
		if target, err := root.Target(c.Path); err == nil {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			unlock, err := own.Lock(ctx, []string{target})
			if err != nil {
				return err
			}
			defer unlock()
		}
	}
	changes := []state.Change{*c}
	err := root.Apply(ctx, changes)
	c.Archived = changes[0].Archived
	if errors.Is(err, state.ErrChanged) {
		return fmt.Errorf("%s changed just now; run the command again", c.Path)
	}
	return err
}
