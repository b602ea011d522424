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
	if len(e.words) < 2 || e.words[1] != "eval" {
		return nil, false
	}
	if !isRalph(e.words[0]) {
		return nil, false
	}
	args := e.words[2:]
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case (arg == "--policy" || arg == "-p") && i+1 < len(args):
			i++
			policies = append(policies, args[i])
		case strings.HasPrefix(arg, "--policy="):
			policies = append(policies, strings.TrimPrefix(arg, "--policy="))
		case strings.HasPrefix(arg, "-p") && len(arg) > 2:
			policies = append(policies, strings.TrimPrefix(arg[2:], "="))
		}
	}
	return policies, true
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

// set gives the values of params that an entry of ralph states.
func (e hookEntry) set() []string {
	var values []string
	for i, word := range e.words {
		if value, ok := strings.CutPrefix(word, "--set="); ok {
			values = append(values, value)
		} else if word == "--set" && i+1 < len(e.words) {
			values = append(values, e.words[i+1])
		}
	}
	return values
}

// further gives what a person added to an entry of ralph beside policies and params.
func (e hookEntry) further() []string {
	var further []string
	for i := 2; i < len(e.words); i++ {
		switch word := e.words[i]; {
		case word == "--policy" || word == "-p" || word == "--set":
			i++
		case strings.HasPrefix(word, "--policy=") || strings.HasPrefix(word, "--set=") || strings.HasPrefix(word, "-p"):
		default:
			further = append(further, word)
		}
	}
	return further
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
