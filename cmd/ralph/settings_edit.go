package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
)

// replace shows what changes in a settings file, and writes it unless it is a dry run.
func (a *app) replace(ctx context.Context, s settingsFile, after []byte, dryRun bool) error {
	fmt.Fprint(a.stdout, unifiedDiff(s.shown, string(s.src), string(after)))
	if dryRun {
		fmt.Fprintln(a.stdout, "nothing was changed (--dry-run)")
		return nil
	}
	return s.write(ctx, after)
}

// with gives the settings with an entry for the policies at each of the events. An
// entry that asks the same policies is brought up to date, and removed from events
// that they do not decide. Settings that uninstall could not restore are an error.
func (g agent) with(s settingsFile, events, policies, words, made []string) ([]byte, error) {
	entries, err := s.hookEntries()
	if err != nil {
		return nil, err
	}
	if err := s.undoable(events); err != nil {
		return nil, err
	}
	src := s.src
	if src == nil {
		src = s.form.empty()
	}
	var stale []hookEntry
	done := map[string]bool{}
	for _, e := range entries {
		asked, ok := e.ralph()
		if !ok || !samePolicies(asked, policies) {
			continue
		}
		if done[e.event] || !slices.Contains(events, e.event) {
			stale = append(stale, e)
			continue
		}
		done[e.event] = true
		if src, err = g.update(src, e, words); err != nil {
			return nil, err
		}
	}
	for _, event := range events {
		if done[event] {
			continue
		}
		groups, err := s.with(src).groups(event)
		if err != nil {
			return nil, err
		}
		if src, err = g.form.put(src, []any{"hooks", event, groups}, g.entry(runtime.GOOS, event, words)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.shown, err)
		}
	}
	return s.with(src).without(stale, made)
}

// put is jsonedit.Put for settings of this form.
func (f hookForm) put(src []byte, path []any, value []byte) ([]byte, error) {
	return f.edit(src, func(src []byte) ([]byte, error) { return jsonedit.Put(src, path, value) })
}

// cut is jsonedit.Cut for settings of this form.
func (f hookForm) cut(src []byte, path []any) ([]byte, error) {
	return f.edit(src, func(src []byte) ([]byte, error) { return jsonedit.Cut(src, path) })
}

func (f hookForm) edit(src []byte, change func(src []byte) ([]byte, error)) ([]byte, error) {
	if f.comments {
		return jsonedit.Commented(src, change)
	}
	return change(src)
}

// with is the file with other bytes.
func (s settingsFile) with(src []byte) settingsFile {
	s.src = src
	return s
}

// undoable reports what keeps uninstall from restoring the settings.
func (s settingsFile) undoable(events []string) error {
	if s.src == nil {
		return nil
	}
	if key, line, col, ok := jsonedit.Repeated(s.json(), "hooks"); ok {
		return &settingsError{s.shown, line, col, fmt.Sprintf("%q is in its object twice, and hosts read only the last one, so ralph could not undo its change; remove one first", key)}
	}
	values, err := s.decode()
	if err != nil {
		return err
	}
	hooks, _ := values["hooks"].(map[string]any)
	null := func(in map[string]any, key, shown string) error {
		if v, ok := in[key]; !ok || v != nil {
			return nil
		}
		return &settingsError{file: s.shown, message: shown + " is null, so ralph could not undo its change; remove it first"}
	}
	for _, event := range events {
		if err := null(hooks, event, "hooks."+event); err != nil {
			return err
		}
	}
	return null(values, "hooks", "hooks")
}

// groups counts the groups of an event.
func (s settingsFile) groups(event string) (int, error) {
	values, err := s.decode()
	if err != nil {
		return 0, err
	}
	hooks, _ := values["hooks"].(map[string]any)
	groups, _ := hooks[event].([]any)
	return len(groups), nil
}

// update brings an entry up to date. What a user added to it stays.
func (g agent) update(src []byte, e hookEntry, words []string) ([]byte, error) {
	_, _, added := e.flags()
	if slices.Contains(words, "--deadline") {
		added = withoutDeadline(added)
	}
	line, args := g.command(runtime.GOOS, words, added, e.listed)
	if is, want := e.command(), append([]string{line}, args...); !slices.Equal(is, want) {
		var err error
		if src, err = g.form.put(src, e.path(e.key), jsonedit.Encode(line)); err != nil {
			return nil, err
		}
		switch {
		case args != nil:
			src, err = g.form.put(src, e.path("args"), jsonedit.Encode(args))
		case e.listed:
			src, err = g.form.cut(src, e.path("args"))
		}
		if err != nil {
			return nil, err
		}
	}
	deadline := deadlineOf(append(slices.Clip(words), texts(added)...))
	if key := g.form.timeoutKey(); key != "" && e.timeout < float64(leastTimeout(deadline)) {
		return g.form.put(src, e.path(key), jsonedit.Encode(g.form.seconds(timeoutFor(deadline))))
	}
	return src, nil
}

// without gives the settings without these entries and without the groups that held
// nothing else. Of the lists and objects that are empty then, it removes those that ralph made.
func (s settingsFile) without(entries []hookEntry, made []string) ([]byte, error) {
	src := s.src
	// From behind, so that those before keep their places.
	slices.SortStableFunc(entries, func(a, b hookEntry) int {
		if a.group != b.group {
			return b.group - a.group
		}
		return b.index - a.index
	})
	for _, e := range entries {
		values, err := s.with(src).decode()
		if err != nil {
			return nil, err
		}
		path := e.path()
		hooks := values["hooks"].(map[string]any) // the entry is there
		groups := hooks[e.event].([]any)
		group := groups[e.group].(map[string]any)
		if of, _ := group["hooks"].([]any); e.flat || len(of) == 1 && len(group) == 1 {
			path = path[:3]
			if len(groups) == 1 && slices.Contains(made, eventPart(e.event)) {
				path = path[:2]
				if len(hooks) == 1 && slices.Contains(made, hooksPart) {
					path = path[:1]
				}
			}
		}
		if src, err = s.form.cut(src, path); err != nil {
			return nil, fmt.Errorf("%s: %w", s.shown, err)
		}
	}
	return src, nil
}

// The parts of settings that ralph makes for its entries: the file, folders of its path, keys.
const (
	filePart   = "file"
	folderPart = "folder " // and its path
	hooksPart  = "hooks"
)

func eventPart(event string) string { return hooksPart + "." + event }

// parts lists the parts of the settings that are there, and those that an entry of ralph is in.
func (s settingsFile) parts() (there, ours []string, err error) {
	entries, err := s.hookEntries()
	if err != nil {
		return nil, nil, err
	}
	values, err := s.decode()
	if err != nil {
		return nil, nil, err
	}
	if s.src != nil {
		there = append(there, filePart)
	}
	if v, ok := values["hooks"]; ok {
		there = append(there, hooksPart)
		hooks, _ := v.(map[string]any)
		for event := range hooks {
			there = append(there, eventPart(event))
		}
	}
	for _, e := range entries {
		if _, ok := e.ralph(); ok {
			ours = append(ours, filePart, hooksPart, eventPart(e.event))
		}
	}
	slices.Sort(ours)
	return there, slices.Compact(ours), nil
}

// made lists the parts of a settings file that ralph made and that no user took over since.
func (a *app) made(s settingsFile) []string {
	own, err := a.store()
	if err != nil {
		return nil
	}
	_, ours, err := s.parts()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(own.Made(s.place()), func(part string) bool {
		return len(ours) == 0 || !strings.HasPrefix(part, folderPart) && !slices.Contains(ours, part)
	})
}

// keepMade keeps for uninstall which parts ralph made, when the settings became after.
// Without that uninstall leaves an empty part more, which does no harm.
func (a *app) keepMade(s settingsFile, after []byte, made []string) {
	there, _, err := s.parts()
	if err != nil {
		return
	}
	_, ours, err := s.with(after).parts()
	if err != nil {
		return
	}
	ours = slices.DeleteFunc(ours, func(part string) bool {
		return slices.Contains(there, part) && !slices.Contains(made, part)
	})
	if len(ours) > 0 {
		for _, dir := range s.absent {
			ours = append(ours, folderPart+dir)
		}
		ours = append(ours, slices.DeleteFunc(slices.Clone(made), func(part string) bool { return !strings.HasPrefix(part, folderPart) })...)
	}
	if own, err := a.store(); err == nil {
		_ = own.SaveMade(s.place(), ours)
	}
}

// removeMade removes the folders that ralph made and that are empty now, the inner ones first.
func removeMade(made []string) {
	for _, part := range slices.Backward(slices.Sorted(slices.Values(made))) {
		if dir, ok := strings.CutPrefix(part, folderPart); ok {
			removeEmpty(dir)
		}
	}
}
