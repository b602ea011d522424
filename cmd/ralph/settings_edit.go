package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
)

// replace shows what changes in a settings file, and writes it unless it is a dry run.
func (a *app) replace(ctx context.Context, s settingsFile, after []byte, dryRun bool) error {
	fmt.Fprint(a.stdout, udiff.Unified(s.shown, s.shown, string(s.src), string(after)))
	if dryRun {
		fmt.Fprintln(a.stdout, "nothing was changed (--dry-run)")
		return nil
	}
	return s.write(ctx, after)
}

// with gives the settings with an entry for the policies at each of the events. An
// entry that asks the same policies is brought up to date, and removed from events
// that they do not decide. Settings that uninstall could not restore are an error.
func (g agent) with(s settingsFile, events, policies, words []string) ([]byte, error) {
	entries, err := s.hookEntries()
	if err != nil {
		return nil, err
	}
	src := s.src
	if src == nil {
		src = s.form.empty()
	} else if key, line, col, ok := jsonedit.Repeated(s.json(), "hooks"); ok {
		return nil, &settingsError{s.shown, line, col, fmt.Sprintf("%q is in its object twice, and hosts read only the last one, so ralph could not undo its change; remove one first", key)}
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
		if src, err = jsonedit.Put(src, []any{"hooks", event, groups}, g.entry(runtime.GOOS, event, words)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.shown, err)
		}
	}
	return s.with(src).without(stale)
}

// with is the file with other bytes.
func (s settingsFile) with(src []byte) settingsFile {
	s.src = src
	return s
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
		if src, err = jsonedit.Put(src, e.path(e.key), jsonedit.Encode(line)); err != nil {
			return nil, err
		}
		switch {
		case args != nil:
			src, err = jsonedit.Put(src, e.path("args"), jsonedit.Encode(args))
		case e.listed:
			src, err = jsonedit.Cut(src, e.path("args"))
		}
		if err != nil {
			return nil, err
		}
	}
	deadline := deadlineOf(append(slices.Clip(words), texts(added)...))
	if key := g.form.timeoutKey(); key != "" && e.timeout < float64(leastTimeout(deadline)) {
		return jsonedit.Put(src, e.path(key), jsonedit.Encode(g.form.seconds(timeoutFor(deadline))))
	}
	return src, nil
}

// without returns the settings without these entries, and without the groups, lists and
// objects that held nothing else.
func (s settingsFile) without(entries []hookEntry) ([]byte, error) {
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
			if len(groups) == 1 {
				path = path[:2]
				if len(hooks) == 1 {
					path = path[:1]
				}
			}
		}
		if src, err = jsonedit.Cut(src, path); err != nil {
			return nil, fmt.Errorf("%s: %w", s.shown, err)
		}
	}
	return src, nil
}
