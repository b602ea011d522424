package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// A toolState is the state file of a tool whose work a policy continues: the inline
// JSON fact of the policy, in a folder that another file, the pointer, names.
type toolState struct {
	loopFile        // its path is that of the state, "" if the pointer leads to none
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

// openToolState finds where a policy looks for the state of its tool. It asks no
// program and no model, and does not care whether loops are switched off. pointed is
// what the pointer is to say; with "" the pointer is read. ok is false if the policy
// has no such state.
func (a *app) openToolState(ctx context.Context, root *state.Root, name, pointed string) (s toolState, ok bool, err error) {
	p, program, err := a.open(ctx, root.Dir(), name, nil)
	if err != nil {
		return s, false, err
	}
	s = toolState{loopFile: loopFile{policy: p, fact: program.Inline()}, pointed: pointed}
	if s.fact == nil || !s.fact.Source.File || !s.fact.Source.Editable || s.fact.Source.Body {
		return s, false, nil
	}
	if _, fixed := s.fact.File(""); fixed {
		return s, false, nil
	}
	if s.pointer = findPointer(ctx, root, program); s.pointer == "" {
		return s, false, nil
	}
	if s.pointed == "" {
		s.pointed = root.Read(ctx, state.File{Path: s.pointer}).Text
	}
	seen := look(ctx, root, program, map[string]string{s.pointer: s.pointed})
	if s.path, s.tasks = seen.path, seen.tasks; s.path == "" {
		s.problem = seen.verdict.Reason
		if len(seen.verdict.Problems) > 0 {
			s.problem = seen.verdict.Problems[0]
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
		src, lacks, err := s.first(ctx, root, f, a.getenv("CLAUDE_CODE_SESSION_ID"))
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
	if now.startedHere() {
		fmt.Fprintf(a.stdout, "  pause it: ralph pause %s   end it: ralph stop %[1]s\n", name)
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
	case f.session != "":
		owner, _ := s.field(ownerFields())
		if owner == "" {
			return noField(s.policy.shortName(), "--session")
		}
		err := a.change(ctx, root, &state.Change{
			Path: s.path, Format: state.JSON, Version: old.doc.Version, Sets: []state.Set{{Path: []any{owner}, Value: f.session}},
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
	var b strings.Builder
	for i, name := range order {
		fmt.Fprintf(&b, "%s\n  %s: %s", map[bool]string{true: "{", false: ","}[i == 0], jsonText(name), jsonText(values[name]))
	}
	return []byte(b.String() + "\n}\n"), lacks, nil
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

// startedStates finds the states of a project that ralph start wrote, and that are
// there.
func (a *app) startedStates(ctx context.Context, root *state.Root) []toolState {
	var found []toolState
	for _, name := range projectPolicies(root.Dir()) {
		s, ok, err := a.openToolState(ctx, root, name, "")
		if err == nil && ok && s.path != "" && s.read(ctx, root).startedHere() {
			found = append(found, s)
		}
	}
	return found
}
