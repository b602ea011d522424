package setup

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/workspace"
)

// A Want is the configuration of an entry for ralph.
type Want struct {
	Program  string        // see [Program]
	Events   []string      // the host's names
	Policies []string      // none means the default one
	Set      []string      // values of params, as name=value
	Deadline time.Duration // 0 means the default
	Once     bool          // for one loop of the policy in the project: it is taken away when that ends
}

// words returns the command of the entry in the settings of a scope, for a project.
func (w Want) words(scope, project string) []string {
	words := []string{w.Program, "eval"}
	if !slices.Equal(workspace.OrDefault(w.Policies), workspace.OrDefault(nil)) {
		for _, p := range w.Policies {
			words = append(words, "--policy", p)
		}
	}
	for _, v := range w.Set {
		words = append(words, "--set", v)
	}
	if scope == ScopeUser {
		words = append(words, "--scope", ScopeUser)
	}
	if w.Once {
		words = append(words, "--once")
	}
	if w.Once && scope == ScopeUser { // one of the project's own settings is read there only
		words = append(words, "--project", project)
	}
	if w.Deadline > 0 {
		words = append(words, "--deadline", w.Deadline.String())
	}
	return words
}

// With returns the settings with an entry for the policies at each of the events. An entry for the same policies is
// updated, and removed from events that they do not decide. It is an error if [File.Without] could not restore the
// settings.
func (s File) With(w Want) ([]byte, error) {
	g, words := s.host, w.words(s.scope, s.host.env.Project)
	entries, err := s.Entries()
	if err != nil {
		return nil, err
	}
	src := s.Src
	if src == nil {
		src = g.empty()
	} else if key, line, col, ok := jsonedit.Repeated(s.json(), "hooks"); ok {
		return nil, &settingsError{s.Shown, line, col, fmt.Sprintf("%q is in its object twice, and hosts read only the last one, so ralph could not undo its change; remove one first", key)}
	}
	var stale []Entry
	done := map[string]bool{}
	for _, e := range entries {
		if !e.Asks(w.Policies) {
			continue
		}
		if done[e.Event] || !slices.Contains(w.Events, e.Event) {
			stale = append(stale, e)
			continue
		}
		done[e.Event] = true
		if src, err = g.update(src, e, words); err != nil {
			return nil, err
		}
	}
	for _, event := range w.Events {
		if done[event] {
			continue
		}
		groups, err := s.with(src).groups(event)
		if err != nil {
			return nil, err
		}
		if src, err = jsonedit.Put(src, []any{"hooks", event, groups}, g.entry(runtime.GOOS, event, words)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Shown, err)
		}
	}
	return s.with(src).without(stale)
}

// with returns the file with other bytes.
func (s File) with(src []byte) File {
	s.Src = src
	return s
}

// groups counts the groups of an event.
func (s File) groups(event string) (int, error) {
	values, err := s.decode()
	if err != nil {
		return 0, err
	}
	hooks, _ := values["hooks"].(map[string]any)
	groups, _ := hooks[event].([]any)
	return len(groups), nil
}

// update updates an entry. Additions by the user stay.
func (g Host) update(src []byte, e Entry, words []string) ([]byte, error) {
	without := ""
	if slices.Contains(words, "--deadline") {
		without = "--deadline"
	}
	added := e.added(without)
	line, args := g.command(runtime.GOOS, words, added, e.listed)
	if is, want := e.command(), append([]string{line}, args...); !slices.Equal(is, want) {
		var err error
		if src, err = jsonedit.Put(src, e.path(e.key), jsontext.Encode(line)); err != nil {
			return nil, err
		}
		switch {
		case args != nil:
			src, err = jsonedit.Put(src, e.path("args"), jsontext.Encode(args))
		case e.listed:
			src, err = jsonedit.Cut(src, e.path("args"))
		}
		if err != nil {
			return nil, err
		}
	}
	deadline := g.env.deadlineOf(flagsOf(slices.Concat(words, texts(added))))
	if key := g.timeoutKey(); key != "" && e.Timeout < float64(g.accepted(e.Event, leastTimeout(deadline))) {
		return jsonedit.Put(src, e.path(key), jsontext.Encode(g.Timeout(e.Event, deadline)))
	}
	return src, nil
}

// without returns the settings without these entries, and without groups, lists and objects that become empty.
func (s File) without(entries []Entry) ([]byte, error) {
	src := s.Src
	// From the end, so that the others keep their positions.
	slices.SortStableFunc(entries, func(a, b Entry) int {
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
		hooks := values["hooks"].(map[string]any) // the entry exists
		groups := hooks[e.Event].([]any)
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
			return nil, fmt.Errorf("%s: %w", s.Shown, err)
		}
	}
	return src, nil
}

// Without returns the settings without these entries, or nil if the file has only what install writes.
func (s File) Without(entries []Entry) ([]byte, error) {
	src, err := s.without(entries)
	if err != nil || bytes.Equal(src, s.host.empty()) {
		return nil, err
	}
	return src, nil
}
