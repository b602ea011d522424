package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
		field(key, g.form.seconds(hookTimeout))
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

// bare reports whether settings hold nothing but what ralph makes for a file of its own: a version, and no hooks.
func (s settingsFile) bare(src []byte) bool {
	values, err := s.with(src).decode()
	if err != nil {
		return false
	}
	if hooks, ok := values["hooks"].(map[string]any); ok {
		for event, v := range hooks {
			if list, ok := v.([]any); ok && len(list) == 0 {
				delete(hooks, event)
			}
		}
		if len(hooks) == 0 {
			delete(values, "hooks")
		}
	}
	delete(values, "version")
	return len(values) == 0
}

// writeBeside writes the files that a host needs beside its settings, where there are none.
func (s settingsFile) writeBeside(files map[string]string) error {
	for name, text := range files {
		file := filepath.Join(filepath.Dir(s.place()), filepath.FromSlash(name))
		if _, err := os.Lstat(file); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeBeside removes those files if they are as they were made, and the folders that are empty then.
func (s settingsFile) removeBeside(files map[string]string) {
	dir := filepath.Dir(s.place())
	_ = os.Remove(dir) // fails unless it is empty
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if src, err := os.ReadFile(file); err == nil && string(src) == text {
			_ = os.Remove(file)
		}
		_ = os.Remove(filepath.Dir(file))
	}
}
