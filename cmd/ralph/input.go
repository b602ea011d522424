package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/state"
)

// maxPrompt bounds a prompt, in bytes.
const maxPrompt = 1 << 20

// openNamed opens a file that the user names. In the project no link leads out. Elsewhere it may be anything, such as
// another program's pipe.
func (a *app) openNamed(project, name string) (fs.File, error) {
	if project == "" {
		return os.Open(name)
	}
	abs := filepath.FromSlash(name)
	if here, err := a.here(); err == nil && !filepath.IsAbs(abs) {
		abs = filepath.Join(here, abs)
	}
	for dir := abs; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil || !workspace.Beneath(project, resolved) {
			continue
		}
		rest, err := filepath.Rel(dir, abs)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(project, filepath.Join(resolved, rest))
		if err != nil {
			return nil, err
		}
		return state.Files(project).Open(filepath.ToSlash(rel))
	}
	return os.Open(name)
}

// read returns a file that the user names, see openNamed, or for - standard input. It returns an error above most
// bytes.
func (a *app) read(what, project, name string, most int) ([]byte, error) {
	r := a.stdin
	if name != "-" {
		file, err := a.openNamed(project, name)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", what, err)
		}
		defer file.Close()
		r = file
	}
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", what, err)
	case len(b) > most:
		return nil, fmt.Errorf("%s is too large (the limit is %d MiB)", what, most>>20)
	}
	return b, nil
}

// promptOf returns the text for --prompt.
func (a *app) promptOf(project, name string, most int) (string, error) {
	if name == "" {
		return "", nil
	}
	b, err := a.read("the prompt", project, name, most)
	if err != nil && name != "-" {
		_, there := os.Lstat(name)
		ext := filepath.Ext(name)
		if there != nil && (!errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, " \n") || ext != ".md" && ext != ".txt" && !strings.ContainsRune(name, '/')) {
			return name, nil // it is the text itself
		}
	}
	if err == nil && strings.TrimSpace(string(b)) == "" {
		err = fmt.Errorf("the prompt in %s is empty", name)
	}
	return string(b), err
}

// rewrite replaces the content of a file that the user names with the result of edit; src is empty for a new file. No
// link leads out of its directory.
func rewrite(ctx context.Context, file string, edit func(src []byte) ([]byte, error)) error {
	root, err := state.OpenRoot(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", file, err)
	}
	defer root.Close()
	src, version, err := root.ReadBytes(ctx, filepath.Base(file))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	after, err := edit(src)
	if err != nil {
		return err
	}
	return root.Write(ctx, filepath.Base(file), after, version)
}
