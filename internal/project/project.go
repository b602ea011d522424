package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-sdk/ralph/internal/git"
)

// Dir is the directory of a project in which policies are.
const Dir = ".ralph"

// Project is a directory in which an agent works.
type Project struct {
	Root string // absolute, without links; the files of facts are below it

	places []string // the directories whose .ralph has policies, in the order in which they are searched
}

// Find returns the project of a directory: the nearest directory, from it upwards, that has .ralph or .git, else the directory itself.
// The home directory, the root of the file system and a directory that others can write are no projects, and end the search.
//
// Its policies are also looked for in the main work tree, if the project is a work tree whose repository points back, and in
// CLAUDE_PROJECT_DIR.
func Find(dir string, getenv func(string) string) (Project, error) {
	start, err := resolve(dir)
	if err != nil {
		return Project{}, err
	}
	home := homeDir(getenv)
	p := Project{Root: start}
	for at := start; usable(at, home); at = filepath.Dir(at) {
		if has(at, Dir) || has(at, ".git") {
			p.Root = at
			break
		}
	}
	p.places = []string{p.Root}
	if main, ok := git.MainTree(p.Root); ok && usable(main, home) {
		p.places = append(p.places, main)
	}
	if claude := getenv("CLAUDE_PROJECT_DIR"); claude != "" {
		if claude, err := resolve(claude); err == nil && usable(claude, home) {
			p.places = append(p.places, claude)
		}
	}
	return p, nil
}

// Is reports whether a directory is the project's root.
func (p Project) Is(dir string) bool {
	dir, err := resolve(dir)
	return err == nil && dir == p.Root
}

// resolve returns a directory's absolute path without links.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if at := new(fs.PathError); errors.As(err, &at) { // it names the part that is missing
			err = at.Err
		}
		return "", &fs.PathError{Op: "open", Path: abs, Err: err}
	}
	if info, err := os.Stat(real); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", abs)
	}
	return real, nil
}

func has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// usable reports whether a directory may be a project: another user could put a policy into one that others can write.
func usable(dir, home string) bool {
	if dir == filepath.Dir(dir) {
		return false
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || shared(dir, home, info) {
		return false
	}
	theirs, err := os.Stat(home)
	return err != nil || !os.SameFile(info, theirs)
}
