package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// The scopes of a host's settings.
const (
	scopeProject = "project" // for everybody who works on the project
	scopeLocal   = "local"   // for this person in this project
	scopeUser    = "user"    // for this person in all projects
)

// An agent is a host whose settings file ralph can edit.
type agent struct {
	host  string
	title string
	// files gives the settings file of each scope, relative to the project, or
	// absolute for the person's own.
	files map[string]string
	argv  bool // a hook can be a program with a list of arguments, without a shell
	after string
}

// agents lists the hosts that ralph can be installed in. home is the person's home
// directory, "" if there is none.
func agents(home string, getenv func(string) string) []agent {
	own := func(variable, dir, file string) string {
		switch base := getenv(variable); {
		case base != "":
			return filepath.Join(base, file)
		case home != "":
			return filepath.Join(home, dir, file)
		}
		return ""
	}
	return []agent{
		{
			host: host.ClaudeCode, title: "Claude Code", argv: true,
			files: map[string]string{
				scopeProject: ".claude/settings.json",
				scopeLocal:   ".claude/settings.local.json",
				scopeUser:    own("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
			},
			after: "It counts for sessions that start from now on.",
		},
		{
			host: host.Codex, title: "Codex",
			files: map[string]string{
				scopeProject: ".codex/hooks.json",
				scopeUser:    own("CODEX_HOME", ".codex", "hooks.json"),
			},
			after: "Codex skips new hooks until you approve them: start codex and write /hooks.",
		},
	}
}

// scopes lists the scopes that a host has.
func (g agent) scopes() []string {
	var names []string
	for _, s := range []string{scopeProject, scopeLocal, scopeUser} {
		if g.files[s] != "" {
			names = append(names, s)
		}
	}
	return names
}

// A settingsFile is the settings file of a host, with what it was when it was read.
type settingsFile struct {
	shown   string // for people
	root    string // directory beneath which it is opened
	path    string // relative to root
	src     []byte // nil if there is no file
	version string
}

// openSettings reads a settings file.
func openSettings(ctx context.Context, project, home, file string) (settingsFile, error) {
	s := settingsFile{shown: filepath.ToSlash(file), root: project, path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		if rel, err := filepath.Rel(home, file); home != "" && err == nil && filepath.IsLocal(rel) {
			s.shown = "~/" + filepath.ToSlash(rel)
		}
		// Own settings are often links into a folder that is kept elsewhere.
		if resolved, err := filepath.EvalSymlinks(file); err == nil {
			file = resolved
		}
		dir := filepath.Dir(file)
		for dir != filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				break
			}
			dir = filepath.Dir(dir)
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return s, err
		}
		s.root, s.path = dir, filepath.ToSlash(rel)
	}
	root, err := state.OpenRoot(s.root)
	if err != nil {
		return s, err
	}
	defer root.Close()
	s.src, s.version, err = root.ReadBytes(ctx, s.path)
	var refused *state.EditError
	if errors.As(err, &refused) {
		return s, fmt.Errorf("%s: %s", s.shown, refused.Message)
	}
	return s, err
}

// write puts new bytes into the file, if it is still as it was read.
func (s settingsFile) write(ctx context.Context, data []byte) error {
	root, err := state.OpenRoot(s.root)
	if err != nil {
		return err
	}
	defer root.Close()
	err = root.Write(ctx, s.path, data, s.version)
	if errors.Is(err, state.ErrChanged) {
		return fmt.Errorf("%s was changed by somebody else just now; nothing was written, run the command again", s.shown)
	}
	return err
}

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

// A settingsError says where a settings file cannot be understood.
type settingsError struct {
	file      string
	line, col int
	message   string
}

func (e *settingsError) Error() string {
	if e.line == 0 {
		return e.file + ": " + e.message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.file, e.line, e.col, e.message)
}

// decode gives the settings as values; an absent file has none.
func (s settingsFile) decode() (map[string]any, error) {
	if s.src == nil {
		return map[string]any{}, nil
	}
	doc, err := schema.ParseJSON(s.src)
	var syntax *schema.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &settingsError{s.shown, syntax.Line, syntax.Col, "this is not valid JSON: " + syntax.Message}
	}
	if err != nil {
		return nil, err
	}
	values, ok := doc.Document().Value.(map[string]any)
	if !ok {
		return nil, &settingsError{s.shown, 1, 1, "an object was expected: { … }"}
	}
	return values, nil
}

// hookEntries lists what the settings have the host run, in order. Settings that
// are formed otherwise than the host documents are an error: to edit them would be
// to guess.
func (s settingsFile) hookEntries() ([]hookEntry, error) {
	values, err := s.decode()
	if err != nil {
		return nil, err
	}
	odd := func(where string) error {
		return &settingsError{file: s.shown, message: where + " is formed otherwise than the host expects; repair it first"}
	}
	hooks, ok := values["hooks"].(map[string]any)
	if !ok && values["hooks"] != nil {
		return nil, odd("hooks")
	}
	var entries []hookEntry
	for event, v := range hooks {
		groups, ok := v.([]any)
		if !ok && v != nil {
			return nil, odd("hooks." + event)
		}
		for g, v := range groups {
			group, ok := v.(map[string]any)
			list, isList := group["hooks"].([]any)
			if !ok || !isList {
				return nil, odd(fmt.Sprintf("hooks.%s[%d]", event, g))
			}
			for i, v := range list {
				handler, ok := v.(map[string]any)
				if !ok {
					return nil, odd(fmt.Sprintf("hooks.%s[%d].hooks[%d]", event, g, i))
				}
				entries = append(entries, readEntry(hookEntry{event: event, group: g, index: i}, handler))
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b hookEntry) int {
		return strings.Compare(a.event, b.event)
	})
	return entries, nil
}

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

// shellWords takes a simple command line apart, as a shell would. Of anything more
// than words it gives what it can: nothing depends on it but recognising ralph.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	in := false
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'' || quote == '"' && c != '\\':
			word.WriteByte(c)
		case c == '\\' && i+1 < len(line) && (quote == '"' || !isWordByte(line[i+1])):
			i++
			word.WriteByte(line[i])
			in = true
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}

// shellLine writes words so that a shell reads them again: that of POSIX systems,
// or cmd.exe on Windows.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		plain := word != ""
		for j := 0; j < len(word) && plain; j++ {
			plain = isWordByte(word[j]) || runtime.GOOS == "windows" && word[j] == '\\'
		}
		switch {
		case plain:
			quoted[i] = word
		case runtime.GOOS == "windows":
			quoted[i] = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		default:
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// isWordByte reports whether c means nothing special to any shell.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:=,+@%", c) >= 0
}

// homeDir is the person's home directory, "" if there is none.
func (a *app) homeDir() string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	return a.getenv(name)
}
