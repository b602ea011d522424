package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/workspace"
)

func (g Host) commandKey() string {
	if g.Settings.Command == nil {
		return "command"
	}
	return g.Settings.Command(runtime.GOOS)
}

func (g Host) timeoutKey() string {
	if g.Settings.Timeout == "-" {
		return ""
	}
	return cmp.Or(g.Settings.Timeout, "timeout")
}

// root returns the name of the object or the list with ralph's hooks.
func (g Host) root() string {
	if g.Settings.Named {
		return "ralph"
	}
	return "hooks"
}

// empty returns a file that ralph made, without its hooks.
func (g Host) empty() []byte {
	switch {
	case g.Settings.TOML:
		return nil
	case g.Settings.Version == "":
		return []byte("{}\n")
	}
	return fmt.Appendf(nil, "{\n  \"version\": %s\n}\n", g.Settings.Version)
}

// A field of a hook.
type field struct {
	key   string
	value any
}

// object returns fields as JSON, in their order.
func object(fields []field) json.RawMessage {
	var all []string
	for _, f := range fields {
		all = append(all, fmt.Sprintf("%s: %s", jsontext.Encode(f.key), jsontext.Encode(f.value)))
	}
	return json.RawMessage("{" + strings.Join(all, ", ") + "}")
}

// entry returns an item for the list in which a hook of an event is.
func (g Host) entry(goos, event string, words []string) []byte {
	form := g.Settings.Form
	var hook, action []field
	if form.Name != "" {
		hook = append(hook, field{form.Name, "ralph"})
	}
	if form.Listed != "" {
		hook = append(hook, field{form.Listed, event})
	}
	if !form.Untyped {
		action = append(action, field{"type", "command"})
	}
	line, args := g.command(goos, words, nil, true)
	action = append(action, field{g.commandKey(), line})
	if args != nil {
		action = append(action, field{"args", args})
	}
	if form.Action != "" {
		action = []field{{form.Action, object(action)}}
	}
	hook = append(hook, action...)
	if key := g.timeoutKey(); key != "" {
		hook = append(hook, field{key, g.Timeout(event, g.env.deadlineOf(flagsOf(words)))})
	}
	if form.Loop && host.EventOf(event) == host.Stop {
		hook = append(hook, field{"loop_limit", nil})
	}
	if form.Flat || form.Listed != "" {
		return object(hook)
	}
	return []byte(`{"hooks": [` + string(object(hook)) + `]}`)
}

// readEntry reads a hook of the host's settings at a path.
func (g Host) readEntry(event string, path []any, hook map[string]any) Entry {
	e := Entry{Event: event, at: path, action: path, own: g.Settings.Args}
	action := hook
	if key := g.Settings.Action; key != "" {
		e.action = beneath(path, key)
		action, _ = hook[key].(map[string]any)
	}
	if kind, ok := action["type"].(string); ok && kind != "command" {
		e.Other, e.Text = true, kind
		return e
	}
	if n, ok := hook[g.timeoutKey()].(json.Number); ok {
		e.Timeout, _ = n.Float64()
		e.Timeout /= float64(max(g.Settings.Unit, 1))
	}
	e.key = g.commandKey()
	if _, ok := action[e.key].(string); !ok {
		e.key = "command" // for any system
	}
	e.read(action)
	return e
}

// hooks returns the hooks in the settings, and in odd the place at which these do not have the host's form.
func (g Host) hooks(values map[string]any) (entries []Entry, odd string) {
	if g.Settings.Listed != "" {
		v, there := values[g.root()]
		list, ok := v.([]any)
		if there && !ok {
			return nil, g.root()
		}
		for i, v := range list {
			hook, ok := v.(map[string]any)
			event, named := hook[g.Settings.Listed].(string)
			if !ok || !named {
				return nil, fmt.Sprintf("%s[%d]", g.root(), i)
			}
			entries = append(entries, g.readEntry(event, []any{g.root(), i}, hook))
		}
		return entries, ""
	}
	for name, v := range values {
		if name != g.root() && !g.Settings.Named {
			continue
		}
		events, ok := v.(map[string]any)
		if !ok {
			return nil, name
		}
		for event, v := range events {
			if _, isSwitch := v.(bool); isSwitch && g.Settings.Named {
				continue // of the group
			}
			groups, ok := v.([]any)
			if !ok {
				return nil, name + "." + event
			}
			in, where := g.hooksOf(event, []any{name, event}, groups)
			if where != "" {
				return nil, name + "." + event + where
			}
			entries = append(entries, in...)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return slices.CompareFunc(a.at, b.at, compareSteps) })
	return entries, ""
}

// hooksOf returns the hooks of an event. Copilot also accepts groups like Claude Code's.
func (g Host) hooksOf(event string, path []any, list []any) (entries []Entry, odd string) {
	for group, v := range list {
		in, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Sprintf("[%d]", group)
		}
		at := append(slices.Clip(path), group)
		hooks, isGroup := in["hooks"].([]any)
		if g.Settings.Flat && !isGroup {
			entries = append(entries, g.readEntry(event, at, in))
			continue
		}
		if !isGroup {
			return nil, fmt.Sprintf("[%d]", group)
		}
		for i, v := range hooks {
			hook, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Sprintf("[%d].hooks[%d]", group, i)
			}
			entries = append(entries, g.readEntry(event, append(slices.Clip(at), "hooks", i), hook))
		}
	}
	return entries, ""
}

// besideFiles reads the files that the host needs in addition to these settings, by their texts.
func (s File) besideFiles(ctx context.Context) (map[string]File, error) {
	all := map[string]File{}
	for _, beside := range s.host.Settings.Beside {
		f, err := s.host.open(ctx, s.scope, filepath.Join(filepath.Dir(s.host.Files[s.scope]), filepath.FromSlash(beside.Name)))
		if err != nil {
			return nil, err
		}
		all[beside.Text] = f
	}
	return all, nil
}

// Replace writes other settings if the file has not changed since it was read, and the files that the host needs in
// addition. nil removes the file, unmodified additional files, and directories that become empty.
func (s File) Replace(ctx context.Context, after []byte) error {
	beside, err := s.besideFiles(ctx)
	if err != nil {
		return err
	}
	for text, f := range beside {
		if after != nil && f.Src == nil {
			err = f.write(ctx, []byte(text))
		}
		if err != nil {
			return err
		}
	}
	if err := s.write(ctx, after); err != nil || after != nil {
		return err
	}
	for text, f := range beside {
		if string(f.Src) == text {
			if err := f.write(ctx, nil); err != nil {
				return err
			}
			f.prune()
		}
	}
	s.prune()
	return nil
}

// prune removes the directories above the file that are empty.
func (s File) prune() {
	for dir := filepath.Dir(s.place()); !workspace.SameFile(dir, s.host.env.Project) && !workspace.SameFile(dir, s.host.env.Home); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil { // keeps a link; Remove fails unless it is empty
			return
		}
	}
}
