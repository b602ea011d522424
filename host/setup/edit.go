package setup

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/tomledit"
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

// words returns the command of the entry in the settings of a scope, for a project, with arguments that the host needs.
func (w Want) words(scope, project string, own []string) []string {
	words := append([]string{w.Program, "eval"}, own...)
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
	g, words := s.host, w.words(s.scope, s.host.env.Project, s.host.Settings.Args)
	entries, err := s.Entries()
	if err != nil {
		return nil, err
	}
	src := s.Src
	if key, line, col, ok := jsonedit.Repeated(s.json(), g.root()); ok && !g.Settings.TOML {
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
		end, err := s.with(src).end(event)
		if err != nil {
			return nil, err
		}
		if src, err = g.put(src, end, g.entry(runtime.GOOS, event, words)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Shown, err)
		}
	}
	if s.Src == nil && g.Settings.Version != "" { // after the hooks, where no other file that lacks it has it
		if src, err = g.put(src, []any{"version"}, []byte(g.Settings.Version)); err != nil {
			return nil, err
		}
	}
	return s.with(src).without(stale)
}

// with returns the file with other bytes.
func (s File) with(src []byte) File {
	s.Src = src
	return s
}

// end returns the path after the last item of the list in which a hook of an event is.
func (s File) end(event string) ([]any, error) {
	values, err := s.decode()
	if err != nil {
		return nil, err
	}
	path := []any{s.host.root()}
	if s.host.Settings.Listed == "" {
		path = append(path, event)
	}
	list, _ := valueAt(values, path).([]any)
	return append(path, len(list)), nil
}

// valueAt returns the value at a path of settings, nil if there is none.
func valueAt(v any, path []any) any {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = in[name]
		case []any:
			i, ok := step.(int)
			if !ok || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
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
		if src, err = g.put(src, beneath(e.action, e.key), jsontext.Encode(line)); err != nil {
			return nil, err
		}
		switch {
		case args != nil:
			src, err = g.put(src, beneath(e.action, "args"), jsontext.Encode(args))
		case e.listed:
			src, err = g.cut(src, beneath(e.action, "args"))
		}
		if err != nil {
			return nil, err
		}
	}
	deadline := g.env.deadlineOf(flagsOf(slices.Concat(words, texts(added))))
	if key := g.timeoutKey(); key != "" && e.Timeout < float64(g.accepted(e.Event, leastTimeout(deadline))) {
		return g.put(src, beneath(e.at, key), jsontext.Encode(g.Timeout(e.Event, deadline)))
	}
	return src, nil
}

// without returns the settings without these entries, and without groups, lists and objects that become empty.
func (s File) without(entries []Entry) ([]byte, error) {
	src := s.Src
	// From the end, so that the others keep their positions.
	slices.SortStableFunc(entries, func(a, b Entry) int { return slices.CompareFunc(b.at, a.at, compareSteps) })
	for _, e := range entries {
		values, err := s.with(src).decode()
		if err != nil {
			return nil, err
		}
		path := e.at
		if !s.host.Settings.TOML { // whose lists end with their last table
			path = emptied(src, values, path)
		}
		if src, err = s.host.cut(src, path); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Shown, err)
		}
	}
	return src, nil
}

// emptied returns the path of what a cut at path leaves empty, or path. What was empty before stays, and a group with other
// fields keeps its list.
func emptied(src []byte, values map[string]any, path []any) []any {
	for len(path) > 1 {
		up := path[:len(path)-1]
		if jsonedit.Filled(src, up) {
			return path
		}
		switch in := valueAt(values, up).(type) {
		case []any:
			group, isGroup := valueAt(values, up[:len(up)-1]).(map[string]any)
			if len(in) > 1 || isGroup && len(up) > 2 && up[len(up)-1] == "hooks" && len(group) > 1 {
				return path
			}
		case map[string]any:
			if len(in) > 1 {
				return path
			}
		}
		path = up
	}
	return path
}

// compareSteps orders two steps of paths.
func compareSteps(a, b any) int {
	i, isIndex := a.(int)
	j, isToo := b.(int)
	if isIndex && isToo {
		return i - j
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// beneath returns the path of a field of what is at path.
func beneath(path []any, field string) []any { return append(slices.Clip(path), field) }

// put and cut edit the settings, see packages jsonedit and tomledit.
func (g Host) put(src []byte, path []any, value []byte) ([]byte, error) {
	switch {
	case g.Settings.TOML:
		return tomledit.Put(src, path, value)
	case src == nil:
		return jsonedit.New(path, value), nil
	}
	return jsonedit.Put(src, path, value)
}

func (g Host) cut(src []byte, path []any) ([]byte, error) {
	if g.Settings.TOML {
		return tomledit.Cut(src, path)
	}
	return jsonedit.Cut(src, path)
}

// Without returns the settings without these entries, as they were before [File.With], or nil if it made the file.
func (s File) Without(entries []Entry) ([]byte, error) {
	src, err := s.without(entries)
	if err != nil || s.made() && bytes.Equal(src, s.host.empty()) {
		return nil, err
	}
	return append([]byte{}, src...), nil // an empty file is not nil
}

// made reports whether With began the file: with ralph's hooks, which are put after what there is.
func (s File) made() bool {
	if s.host.Settings.TOML {
		return bytes.HasPrefix(s.Src, []byte("[["))
	}
	first := jsontext.Value(s.json()).Members()
	return first.Next() && string(first.Key) == s.host.root() && !jsonedit.Filled(s.json(), nil)
}
