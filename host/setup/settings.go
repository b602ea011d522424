package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/internal/tomledit"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// A File is a host's settings file with its content when it was read.
type File struct {
	Shown   string // its path, for people
	root    string // the directory in which it is opened
	path    string // relative to root
	Src     []byte // nil if there is no file
	version string
	host    Host
	scope   string
}

// errUsersOwn is the error for a project's file that is also the user's own, because the project is the home directory.
var errUsersOwn = errors.New("the project is your home directory, where this file is for all projects; run ralph in a project, or use --scope user")

// Open reads the settings file of a scope.
func (g Host) Open(ctx context.Context, scope string) (File, error) {
	file, home := g.Files[scope], g.env.Home
	if !filepath.IsAbs(file) && home != "" && filepath.Join(home, file) == g.Files[ScopeUser] && workspace.SameFile(g.env.Project, home) {
		return File{Shown: file}, fmt.Errorf("%s: %w", file, errUsersOwn)
	}
	return g.open(ctx, scope, file)
}

// open reads a file, by an absolute path or one in the project.
func (g Host) open(ctx context.Context, scope, file string) (File, error) {
	home := g.env.Home
	s := File{Shown: filepath.ToSlash(file), root: g.env.Project, path: filepath.ToSlash(file), host: g, scope: scope}
	if filepath.IsAbs(file) {
		if rel, err := filepath.Rel(home, file); home != "" && err == nil && filepath.IsLocal(rel) {
			s.Shown = "~/" + filepath.ToSlash(rel)
		}
		// User settings are often links to a directory elsewhere.
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
		return s, fmt.Errorf("%s: %s a link to %s, which does not exist; remove the link, or make what it leads to", s.Shown, link, to)
	}
	s.Src, s.version, err = root.ReadBytes(ctx, s.path)
	var refused *state.EditError
	if errors.As(err, &refused) {
		return s, fmt.Errorf("%s: %s", s.Shown, refused.Message)
	}
	return s, err
}

// danglingLink returns the first step of a path that is a link to nothing, and its target. link begins a sentence: "it
// is".
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
		case err != nil: // only missing
			return "", ""
		case i < len(name):
			return "its directory " + name[:i] + " is", to
		}
		return "it is", to
	}
	return "", ""
}

// place returns the path of the file.
func (s File) place() string {
	root := s.root
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	return filepath.Join(root, filepath.FromSlash(s.path))
}

// Tracked reports whether git tracks the file, so that a change of it is one that others get.
func (s File) Tracked(ctx context.Context) bool {
	root, err := filepath.EvalSymlinks(s.root)
	if err != nil {
		return false
	}
	r, err := git.Find(root)
	if errors.Is(err, git.ErrNone) {
		return false
	}
	if err == nil {
		err = r.Open(ctx)
	}
	if err != nil {
		return true // what git would say is not known
	}
	defer r.Close()
	out, err := r.Run(ctx, "ls-files", "--", s.place())
	return err != nil || strings.TrimSpace(out) != ""
}

// write writes new bytes if the file has not changed since it was read. Without bytes it removes the file.
func (s File) write(ctx context.Context, data []byte) error {
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
		return fmt.Errorf("%s changed just now; nothing was written, run the command again", s.Shown)
	}
	return err
}

// A settingsError is a position at which a settings file is invalid.
type settingsError struct {
	file      string
	line, col int
	message   string
}

func (e *settingsError) Error() string { return e.place() + ": " + e.message }

// place returns the file, with line and column if known.
func (e *settingsError) place() string {
	if e.line == 0 {
		return e.file
	}
	return fmt.Sprintf("%s:%d:%d", e.file, e.line, e.col)
}

// json returns the file without the comments that the host allows.
func (s File) json() []byte {
	if s.host.Settings.Comments {
		return jsonedit.Uncommented(s.Src)
	}
	return s.Src
}

// decode returns the settings; a missing file has none.
func (s File) decode() (map[string]any, error) {
	if s.Src == nil {
		return map[string]any{}, nil
	}
	if s.host.Settings.TOML {
		values, err := tomledit.Decode(s.Src)
		return values, s.invalid("TOML", err)
	}
	doc, err := schema.ParseJSON(s.json())
	if err := s.invalid("JSON", err); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	values, ok := doc.Value.(map[string]any)
	if !ok {
		return nil, &settingsError{s.Shown, 1, 1, "expected an object: { … }"}
	}
	return values, nil
}

// invalid returns an error of a parser with the position in the file.
func (s File) invalid(language string, err error) error {
	var syntax *schema.SyntaxError
	if errors.As(err, &syntax) {
		return &settingsError{s.Shown, syntax.Line, syntax.Col, "this is not valid " + language + ": " + syntax.Message + "; fix the file, then run the command again"}
	}
	return err
}

// Entries returns the commands in the settings, in order. Settings in a form that the host does not document are an
// error, because editing them would be a guess.
func (s File) Entries() ([]Entry, error) {
	values, err := s.decode()
	if err != nil {
		return nil, err
	}
	entries, odd := s.host.hooks(values)
	if odd != "" {
		return nil, &settingsError{file: s.Shown, message: odd + " does not have the form that the host expects; fix it first"}
	}
	for i := range entries {
		entries[i].env = s.host.env
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return strings.Compare(a.Event, b.Event)
	})
	return entries, nil
}
