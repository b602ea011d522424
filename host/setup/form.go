package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// empty returns a file without hooks.
func (g Host) empty() []byte {
	if g.Settings.Version == 0 {
		return []byte("{}\n")
	}
	return fmt.Appendf(nil, "{\n  \"version\": %d\n}\n", g.Settings.Version)
}

// entry returns an item for the list of an event.
func (g Host) entry(goos, event string, words []string) []byte {
	line, args := g.command(goos, words, nil, true)
	var fields []string
	field := func(key string, value any) {
		fields = append(fields, fmt.Sprintf("%s: %s", jsontext.Encode(key), jsontext.Encode(value)))
	}
	if !g.Settings.Loop {
		field("type", "command")
	}
	field(g.commandKey(), line)
	if args != nil {
		field("args", args)
	}
	if key := g.timeoutKey(); key != "" {
		field(key, g.Timeout(event, g.env.deadlineOf(flagsOf(words))))
	}
	if g.Settings.Loop && host.EventOf(event) == host.Stop {
		field("loop_limit", nil)
	}
	hook := "{" + strings.Join(fields, ", ") + "}"
	if g.Settings.Flat {
		return []byte(hook)
	}
	return []byte(`{"hooks": [` + hook + `]}`)
}

// readEntry reads a hook of the host's settings into e, which has its position.
func (g Host) readEntry(e Entry, handler map[string]any) Entry {
	if kind, ok := handler["type"].(string); ok && kind != "command" {
		e.Other, e.Text = true, kind
		return e
	}
	if n, ok := handler[g.timeoutKey()].(json.Number); ok {
		e.Timeout, _ = n.Float64()
		e.Timeout /= float64(max(g.Settings.Unit, 1))
	}
	e.key = g.commandKey()
	if _, ok := handler[e.key].(string); !ok {
		e.key = "command" // for any system
	}
	e.read(handler)
	return e
}

// hooksOf returns the hooks of an event, and in odd why the settings do not have the host's form. Copilot also accepts
// groups like Claude Code's.
func (g Host) hooksOf(event string, list []any) (entries []Entry, odd string) {
	for group, v := range list {
		in, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Sprintf("[%d]", group)
		}
		hooks, isGroup := in["hooks"].([]any)
		if g.Settings.Flat && !isGroup {
			entries = append(entries, g.readEntry(Entry{Event: event, group: group, flat: true}, in))
			continue
		}
		if !isGroup {
			return nil, fmt.Sprintf("[%d]", group)
		}
		for i, v := range hooks {
			handler, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Sprintf("[%d].hooks[%d]", group, i)
			}
			entries = append(entries, g.readEntry(Entry{Event: event, group: group, index: i}, handler))
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
		}
	}
	for dir := filepath.Dir(s.place()); !workspace.SameFile(dir, s.host.env.Project) && !workspace.SameFile(dir, s.host.env.Home); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil { // keeps a link; Remove fails unless it is empty
			break
		}
	}
	return nil
}
