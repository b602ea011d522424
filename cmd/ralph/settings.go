package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// A settingsFile is the settings file of a host, with what it was when it was read.
type settingsFile struct {
	shown   string // for people
	root    string // directory beneath which it is opened
	path    string // relative to root
	src     []byte // nil if there is no file
	version string
	form    hookForm
}

// errUsersOwn is for a file of a project that is the user's own one, because the project is the home directory.
var errUsersOwn = errors.New("the project is your home directory, where this file is for all projects; run ralph in a project, or use --scope user")

// open reads the settings file of a scope.
func (g agent) open(ctx context.Context, project, home, scope string) (settingsFile, error) {
	if file := g.files[scope]; !filepath.IsAbs(file) && home != "" && filepath.Join(home, file) == g.files[scopeUser] && sameFile(project, home) {
		return settingsFile{shown: file}, fmt.Errorf("%s: %w", file, errUsersOwn)
	}
	s, err := openSettings(ctx, project, home, g.files[scope])
	s.form = g.form
	return s, err
}

// openSettings reads a file, by an absolute path or one in the project.
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
	if link, to := danglingLink(s.root, s.path); link != "" {
		return s, fmt.Errorf("%s: %s a link to %s, which does not exist; remove the link, or make what it leads to", s.shown, link, to)
	}
	s.src, s.version, err = root.ReadBytes(ctx, s.path)
	var refused *state.EditError
	if errors.As(err, &refused) {
		return s, fmt.Errorf("%s: %s", s.shown, refused.Message)
	}
	return s, err
}

// danglingLink finds the first step of a path that is a link to nothing. link begins a
// sentence: "it is".
func danglingLink(root, name string) (link, to string) {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		at := filepath.Join(root, filepath.FromSlash(name[:i]))
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		to, err := os.Readlink(at)
		switch {
		case err != nil: // it is just absent
			return "", ""
		case i < len(name):
			return "its folder " + name[:i] + " is", to
		}
		return "it is", to
	}
	return "", ""
}

// place is where the file is.
func (s settingsFile) place() string {
	root := s.root
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	return filepath.Join(root, filepath.FromSlash(s.path))
}

// write puts new bytes into the file, if it is still as it was read. Without bytes it removes the file.
func (s settingsFile) write(ctx context.Context, data []byte) error {
	root, err := state.OpenRoot(s.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if data == nil {
		err = root.Apply(ctx, []state.Change{{Path: s.path, Version: s.version, Op: state.OpDelete}})
	} else {
		err = root.Write(ctx, s.path, data, s.version)
	}
	if errors.Is(err, state.ErrChanged) {
		return fmt.Errorf("%s changed just now; nothing was written, run the command again", s.shown)
	}
	return err
}

// A settingsError says where a settings file cannot be understood.
type settingsError struct {
	file      string
	line, col int
	message   string
}

func (e *settingsError) Error() string { return e.place() + ": " + e.message }

func (e *settingsError) place() string {
	if e.line == 0 {
		return e.file
	}
	return fmt.Sprintf("%s:%d:%d", e.file, e.line, e.col)
}

// json is the file without the comments that the host allows.
func (s settingsFile) json() []byte {
	if s.form.comments {
		return jsonedit.Uncommented(s.src)
	}
	return s.src
}

// decode gives the settings as values; an absent file has none.
func (s settingsFile) decode() (map[string]any, error) {
	if s.src == nil {
		return map[string]any{}, nil
	}
	doc, err := schema.ParseJSON(s.json())
	var syntax *schema.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &settingsError{s.shown, syntax.Line, syntax.Col, "this is not valid JSON: " + syntax.Message}
	}
	if err != nil {
		return nil, err
	}
	values, ok := doc.Document().Value.(map[string]any)
	if !ok {
		return nil, &settingsError{s.shown, 1, 1, "expected an object: { … }"}
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
		return &settingsError{file: s.shown, message: where + " does not have the form that the host expects; repair it first"}
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
		in, where := s.form.hooksOf(event, groups)
		if where != "" {
			return nil, odd("hooks." + event + where)
		}
		entries = append(entries, in...)
	}
	slices.SortStableFunc(entries, func(a, b hookEntry) int {
		return strings.Compare(a.event, b.event)
	})
	return entries, nil
}

// asked reports whether some host is set up to ask a policy.
func (a *app) asked(ctx context.Context, p policy) bool { return a.hookTime(ctx, p.project, p) > 0 }
