package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// A hookEntry is one command that a settings file has a host run at an event.
type hookEntry struct {
	event   string
	group   int // among those of the event
	index   int // among those of the group
	words   []string
	text    string  // as people know it
	timeout float64 // in seconds; 0 if it does not say
	other   bool    // it is no command
}

// path leads to the entry in the settings.
func (e hookEntry) path(more ...any) []any {
	return append([]any{"hooks", e.event, e.group, "hooks", e.index}, more...)
}

// ralph reports whether the entry asks ralph, and which policies it names; none is
// the default policy.
func (e hookEntry) ralph() (policies []string, ok bool) {
	if len(e.words) < 2 || e.words[1] != "eval" || !isRalph(e.words[0]) {
		return nil, false
	}
	policies, _, _ = e.flags()
	return policies, true
}

// flags takes an entry of ralph apart: its policies, the values of params that it
// states, and what a user added to them.
func (e hookEntry) flags() (policies, set, further []string) {
	args := e.words[2:]
	for i := 0; i < len(args); i++ {
		name, value, ok := strings.Cut(args[i], "=")
		if short, is := strings.CutPrefix(args[i], "-p"); is && short != "" {
			name, value, ok = "-p", strings.TrimPrefix(short, "="), true
		}
		into := &policies
		switch name {
		case "--policy", "-p":
		case "--set":
			into = &set
		default:
			further = append(further, args[i])
			continue
		}
		if !ok && i+1 < len(args) {
			i++
			value, ok = args[i], true
		}
		if ok {
			*into = append(*into, value)
		}
	}
	return policies, set, further
}

// isRalph reports whether a program is ralph: by its name, or because it is the one
// that runs here, whatever it is called.
func isRalph(program string) bool {
	if strings.TrimSuffix(strings.ToLower(baseName(program)), ".exe") == "ralph" {
		return true
	}
	self, err := os.Executable()
	return err == nil && filepath.IsAbs(program) && (program == self || sameProgram(program, self))
}

// baseName is the last step of a path of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func readEntry(e hookEntry, handler map[string]any) hookEntry {
	if kind, ok := handler["type"].(string); ok && kind != "command" {
		e.other, e.text = true, kind
		return e
	}
	if n, ok := handler["timeout"].(json.Number); ok {
		e.timeout, _ = n.Float64()
	}
	e.text, _ = handler["command"].(string)
	args, ok := handler["args"].([]any)
	if !ok {
		e.words = shellWords(e.text)
		return e
	}
	e.words = []string{e.text}
	for _, a := range args {
		word, _ := a.(string)
		e.words = append(e.words, word)
	}
	e.text = shellLine(e.words)
	return e
}
