package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// A tool is a policy that continues the work of a tool. Its state is the inline JSON fact of
// the policy, in a folder that another file, the pointer, names.
type tool struct {
	policy  policy
	program *rules.Program
	pointer string // of all sessions
	own     string // pattern of the pointers of single sessions, "" if the policy knows none
}

// A toolState is one state of a tool.
type toolState struct {
	loopFile        // its path is that of the state, "" if the pointer leads to none; its session is that of the pointer
	pointer  string // the file that names the folder
	pointed  string // what it says, or is to say
	tasks    string // the checklist of the tasks
	problem  string // why there is no path
}

// The fields of such a state that commands know, beside those of loop files.
func idFields() []string       { return []string{"featureId"} }
func nameFields() []string     { return []string{"name"} }
func basePathFields() []string { return []string{"basePath"} }
func sourceFields() []string   { return []string{"source"} }
func phaseFields() []string    { return []string{"phase"} }
func indexFields() []string    { return []string{"taskIndex"} }
func totalFields() []string    { return []string{"totalTasks"} }

// The values that a first state has for them.
const (
	executing = "execution" // the phase in which tasks are done
	fromTasks = "direct"    // the source of tasks that no earlier phase made
)

// startedBy is the field that marks a state which ralph start wrote: ralph stop puts
// away no other.
const (
	startedBy    = "startedBy"
	startCommand = "ralph start"
)

// taskList is where the tasks are if the policy reads no checklist beside the state.
const taskList = "tasks.md"

// openTool finds the pointer of a policy; ok is false if it has none.
func (a *app) openTool(ctx context.Context, root *state.Root, name string) (t tool, ok bool, err error) {
	if t.policy, t.program, err = a.open(ctx, root.Dir(), name, nil); err != nil {
		return t, false, err
	}
	f := t.program.Inline()
	if f == nil || !f.Source.File || !f.Source.Editable || f.Source.Body {
		return t, false, nil
	}
	if _, fixed := f.File(""); fixed {
		return t, false, nil
	}
	if t.pointer = findPointer(ctx, root, t.program); t.pointer == "" {
		return t, false, nil
	}
	t.own = ownPointer(ctx, root, t.program, t.pointer)
	return t, true, nil
}

// state finds where the policy looks for the state of its tool: in a session that has a
// pointer of its own, with "" in all others. It asks no program and no model, and does not
// care whether loops are switched off. pointed is what the pointer is to say; with "" the
// pointer is read. ok is false if the policy has no such state.
func (t tool) state(ctx context.Context, root *state.Root, session, pointed string) (s toolState, ok bool, err error) {
	s = toolState{loopFile: loopFile{policy: t.policy, fact: t.program.Inline(), session: session}, pointer: t.pointer, pointed: pointed}
	if session != "" {
		if s.pointer, err = ownPath(t.own, session); err != nil {
			return s, false, err
		}
	}
	if s.pointed == "" {
		s.pointed = root.Read(ctx, state.File{Path: s.pointer}).Text
	}
	seen := look(ctx, root, t.program, session, map[string]string{s.pointer: s.pointed})
	if s.path, s.tasks = seen.path, seen.tasks; s.path == "" {
		s.problem = seen.verdict.Reason
		if len(seen.verdict.Problems) > 0 {
			s.problem = seen.verdict.Problems[0].Text
		}
		return s, true, nil
	}
	if !hasSegments(s.path, s.pointed) {
		return s, false, nil // something else than that text leads to it
	}
	if s.tasks == "" {
		s.tasks = path.Join(path.Dir(s.path), taskList)
	}
	return s, true, nil
}

// states gives the state that the pointer of all sessions leads to, and those of sessions
// that have one of their own.
func (t tool) states(ctx context.Context, root *state.Root) (all []toolState) {
	sessions := []string{""}
	for _, own := range ownFiles(ctx, root, t.own) {
		sessions = append(sessions, own.session)
	}
	for _, session := range sessions {
		if s, ok, err := t.state(ctx, root, session, ""); err == nil && ok {
			all = append(all, s)
		}
	}
	return all
}

// forStart chooses the pointer of a session that starts work: its own one, if there is one or
// if that of all sessions names the work of another session.
func (a *app) forStart(ctx context.Context, root *state.Root, t tool, session, pointed string) (s toolState, ok bool, err error) {
	s, ok, err = t.state(ctx, root, "", pointed)
	if session == "" || t.own == "" || err != nil || !ok {
		return s, ok, err
	}
	own, _ := ownPath(t.own, session)
	taken := own != "" && root.Exists(own)
	if !taken && pointed != "" {
		current, ok, err := t.state(ctx, root, "", "")
		if err != nil || !ok || current.path == "" || current.path == s.path {
			return s, true, err
		}
		store, err := a.store()
		if err != nil {
			return s, false, err
		}
		sessions, err := sessionsOf(store, root.Dir())
		if err != nil {
			return s, false, err
		}
		r := current.read(ctx, root)
		owner, _ := ownerOf(ctx, store, root, current.loopFile, r, sessions)
		taken = r.doc.Status == state.OK && owner != "" && owner != session
	}
	if !taken {
		return s, true, nil
	}
	return t.state(ctx, root, session, pointed)
}

// startTool writes the first state of a tool's work, and the pointer to it if that
// says something else. A state that is there is kept.
func (a *app) startTool(ctx context.Context, root *state.Root, s toolState, f startFlags) error {
	name := s.policy.shortName()
	switch {
	case s.pointed == "":
		return fmt.Errorf("%s names no folder; give its name: ralph start %s NAME", s.pointer, name)
	case s.path == "":
		return fmt.Errorf("%q leads %s to no state: %s", s.pointed, name, s.problem)
	case f.hasPromise:
		return noField(name, "--promise")
	}
	if _, err := s.pointable(ctx, root); err != nil { // before anything is written
		return err
	}
	old := s.read(ctx, root)
	there := old.doc.Status != state.Missing || root.Exists(s.path)
	if there && !f.force {
		if err := a.keepState(ctx, root, s, old, f); err != nil {
			return err
		}
	} else {
		src, lacks, err := s.first(ctx, root, f, a.session(f))
		if err != nil {
			return err
		}
		if there {
			if err := a.archive(ctx, root, s.loopFile, old); err != nil {
				return err
			}
		}
		if err := writeNew(ctx, root, s.path, src); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "started %s: %s\n", name, s.path)
		for _, what := range lacks {
			fmt.Fprintf(a.stdout, "  %s\n", what)
		}
	}
	if err := a.point(ctx, root, s); err != nil {
		return err
	}
	now := s.read(ctx, root)
	if phase := now.text(phaseFields()); phase != executing {
		fmt.Fprintf(a.stdout, "  its phase is %s\n", cmp.Or(phase, "not set"))
	}
	if line := now.progress(); line != "" {
		fmt.Fprintf(a.stdout, "  %s\n", line)
	}
	if now.startedHere() || s.session != "" {
		fmt.Fprintf(a.stdout, "  pause it: ralph pause %s   end it: ralph stop %[1]s\n", s.args())
	}
	a.adviseStarted(ctx, root, s.policy)
	return nil
}

// keepState leaves a state as it is, but for its owner.
func (a *app) keepState(ctx context.Context, root *state.Root, s toolState, old loopState, f startFlags) error {
	switch {
	case old.doc.Status != state.OK:
		return fmt.Errorf("%s %s; repair it, or start anew with --force, which archives it", s.path, old.doc.Problem)
	case f.hasMax:
		return fmt.Errorf("%s exists already, and is kept; change its %s there, or start anew with --force, which archives it", s.path, maximumFields()[1])
	case f.session != "" || s.session != "":
		owner, _ := s.field(ownerFields())
		if owner == "" {
			return noField(s.policy.shortName(), "--session")
		}
		err := a.change(ctx, root, &state.Change{
			Path: s.path, Format: state.JSON, Version: old.doc.Version, Sets: []state.Set{{Path: []any{owner}, Value: cmp.Or(f.session, s.session)}},
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(a.stdout, "kept the state of %s as it is: %s\n", s.policy.shortName(), s.path)
	return nil
}

// first makes the first state: the tasks as they are ticked, and the numbers and
// switches that the schema has for a beginning. lacks says which fields the name of the
// folder does not give.
func (s toolState) first(ctx context.Context, root *state.Root, f startFlags, session string) (src []byte, lacks []string, err error) {
	list := root.Read(ctx, state.File{Path: s.tasks, Format: state.Checklist})
	if list.Status != state.OK {
		return nil, nil, fmt.Errorf("%s %s: without tasks there is nothing to start", s.tasks, list.Problem)
	}
	tasks := slices.DeleteFunc(slices.Clone(list.Items), func(t state.Item) bool { return t.Depth > 0 })
	open := slices.IndexFunc(tasks, func(t state.Item) bool { return !t.Done })
	switch {
	case len(tasks) == 0:
		return nil, nil, fmt.Errorf("%s has no tasks: write them as `- [ ] text`", s.tasks)
	case open < 0:
		return nil, nil, fmt.Errorf("every task in %s is ticked: there is nothing to start", s.tasks)
	}
	var order []string
	values := map[string]any{}
	put := func(names []string, value any) bool {
		name, _ := s.field(names)
		if name == "" {
			return false
		}
		if _, again := values[name]; !again {
			order = append(order, name)
		}
		values[name] = value
		return true
	}
	folder := path.Dir(s.path)
	// A folder such as 001-greeting holds the number of the work and its name.
	title := path.Base(folder)
	id, rest, numbered := strings.Cut(title, "-")
	if numbered && s.refuses(idFields(), id) == nil {
		title = rest
	} else {
		id = title
	}
	for _, give := range []struct {
		names []string
		value string
	}{{idFields(), id}, {nameFields(), title}} {
		if err := s.refuses(give.names, give.value); err == nil {
			put(give.names, give.value)
		} else if name, _ := s.field(give.names); name != "" {
			lacks = append(lacks, fmt.Sprintf("the state has no %s, because the name of the folder gives none: %s", name, err))
		}
	}
	put(basePathFields(), folder)
	if s.refuses(sourceFields(), fromTasks) == nil {
		put(sourceFields(), fromTasks)
	}
	put(phaseFields(), executing)
	put(indexFields(), open)
	put(totalFields(), len(tasks))
	for _, name := range slices.Sorted(maps.Keys(s.fact.Schema.Type().Fields)) {
		if t := s.fact.Schema.Type().Fields[name]; (t.Kind == schema.Int || t.Kind == schema.Bool) && t.HasDefault && values[name] == nil {
			put([]string{name}, t.Default)
		}
	}
	if f.hasMax && !put(maximumFields(), f.max) {
		return nil, nil, noField(s.policy.shortName(), "--max")
	}
	if f.session != "" {
		session = f.session
	}
	if session != "" && !put(ownerFields(), session) && f.session != "" {
		return nil, nil, noField(s.policy.shortName(), "--session")
	}
	values[startedBy], order = startCommand, append(order, startedBy)
	if err := s.check(values); err != nil {
		return nil, nil, err
	}
	src, err = state.NewDocument(state.JSON, order, values, "")
	return src, lacks, err
}

// refuses says why the first of these fields cannot have the value, nil if it can.
func (l loopFile) refuses(names []string, value string) error {
	name, _ := l.field(names)
	if name == "" {
		return noField(l.policy.shortName(), names[0])
	}
	return l.check(map[string]any{name: value})
}

// startedHere reports whether ralph start wrote the file.
func (r loopState) startedHere() bool {
	fields, _ := r.doc.Document.Value.(map[string]any)
	return fields[startedBy] == startCommand
}

// toolStates finds the states of the tools whose policies a project has.
func (a *app) toolStates(ctx context.Context, root *state.Root) []toolState {
	var found []toolState
	for _, name := range projectPolicies(root.Dir()) {
		if t, ok, err := a.openTool(ctx, root, name); err == nil && ok {
			found = append(found, t.states(ctx, root)...)
		}
	}
	return found
}
