package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
)

func (f hookForm) commandKey() string { return cmp.Or(f.command, "command") }

func (f hookForm) timeoutKey() string {
	if f.timeout == "-" {
		return ""
	}
	return cmp.Or(f.timeout, "timeout")
}

// seconds gives a number of seconds in the unit of the host.
func (f hookForm) seconds(n int) int { return n * max(f.unit, 1) }

// empty is a file without hooks.
func (f hookForm) empty() []byte {
	if f.version == 0 {
		return []byte("{}\n")
	}
	return fmt.Appendf(nil, "{\n  \"version\": %d\n}\n", f.version)
}

// entry is what the list of an event holds for one hook.
func (g agent) entry(goos, event string, words []string) []byte {
	line, args := g.command(goos, words, nil, true)
	var fields []string
	field := func(key string, value any) {
		fields = append(fields, fmt.Sprintf("%s: %s", jsonedit.Encode(key), jsonedit.Encode(value)))
	}
	if !g.form.loop {
		field("type", "command")
	}
	field(g.form.commandKey(), line)
	if args != nil {
		field("args", args)
	}
	if key := g.form.timeoutKey(); key != "" {
		field(key, g.form.seconds(timeoutFor(deadlineOf(words))))
	}
	if g.form.loop && g.stops(event) {
		field("loop_limit", nil)
	}
	hook := "{" + strings.Join(fields, ", ") + "}"
	if g.form.flat {
		return []byte(hook)
	}
	return []byte(`{"hooks": [` + hook + `]}`)
}

// readEntry reads a hook of the host's settings. Its place is in e.
func (f hookForm) readEntry(e hookEntry, handler map[string]any) hookEntry {
	if kind, ok := handler["type"].(string); ok && kind != "command" {
		e.other, e.text = true, kind
		return e
	}
	if n, ok := handler[f.timeoutKey()].(json.Number); ok {
		e.timeout, _ = n.Float64()
		e.timeout /= float64(max(f.unit, 1))
	}
	e.key = f.commandKey()
	if _, ok := handler[e.key].(string); !ok {
		e.key = "command" // of any system
	}
	e.read(handler)
	return e
}

// hooksOf lists the hooks of an event, and reports whether the settings have the host's
// form there. Copilot takes groups as Claude Code has them too.
func (f hookForm) hooksOf(event string, list []any) (entries []hookEntry, odd string) {
	for g, v := range list {
		in, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Sprintf("[%d]", g)
		}
		hooks, isGroup := in["hooks"].([]any)
		if f.flat && !isGroup {
			entries = append(entries, f.readEntry(hookEntry{event: event, group: g, flat: true}, in))
			continue
		}
		if !isGroup {
			return nil, fmt.Sprintf("[%d]", g)
		}
		for i, v := range hooks {
			handler, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Sprintf("[%d].hooks[%d]", g, i)
			}
			entries = append(entries, f.readEntry(hookEntry{event: event, group: g, index: i}, handler))
		}
	}
	return entries, ""
}

// besideFiles reads the files that the host needs beside the settings of a scope, and gives the text of each.
func (g agent) besideFiles(ctx context.Context, project, home, scope string) (map[string]settingsFile, error) {
	all := map[string]settingsFile{}
	for name, text := range g.beside {
		s, err := openSettings(ctx, project, home, filepath.Join(filepath.Dir(g.files[scope]), filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		all[text] = s
	}
	return all, nil
}

// writeBeside writes those files, where there are none.
func (g agent) writeBeside(ctx context.Context, project, home, scope string) error {
	files, err := g.besideFiles(ctx, project, home, scope)
	if err != nil {
		return err
	}
	for text, s := range files {
		if s.src == nil {
			if err := s.write(ctx, []byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeBeside removes those files if they are as they were made.
func (g agent) removeBeside(ctx context.Context, project, home, scope string) error {
	files, err := g.besideFiles(ctx, project, home, scope)
	if err != nil {
		return err
	}
	for text, s := range files {
		if string(s.src) == text {
			if err := s.write(ctx, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEmpty removes a directory and those above it, as long as they are empty. A link stays.
func removeEmpty(dir string, below ...string) {
	for !slices.ContainsFunc(below, func(top string) bool { return sameFile(dir, top) }) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil { // which fails unless it is empty
			return
		}
		dir = filepath.Dir(dir)
	}
}
