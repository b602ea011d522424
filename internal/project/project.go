package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ralph-sdk/ralph/internal/git"
)

// Dir is the directory of a project in which policies are.
const Dir = ".ralph"

// Project is a directory in which an agent works.
type Project struct {
	Root string // absolute, without links; the files of facts are below it

	home   string   // the user's home directory, or ""
	places []string // the directories whose .ralph has policies, in the order in which they are searched
	looks  git.Looks
}

// Find returns the project of a directory: the nearest directory, from it upwards, that has .ralph or .git, else the directory itself.
// The home directory, the root of the file system and a directory that others can write are no projects, and end the search.
//
// Its policies are also looked for in the main work tree, if the project is a work tree whose repository points back, and in
// CLAUDE_PROJECT_DIR.
func Find(dir string, getenv func(string) string) (Project, error) {
	p := Project{home: getenv("HOME"), looks: git.Looks{}}
	if runtime.GOOS == "windows" {
		p.home = cmp.Or(getenv("USERPROFILE"), p.home)
	}
	start, err := p.resolve(dir)
	if err != nil {
		return p, err
	}
	p.Root = start
	for at := start; p.usable(at); at = filepath.Dir(at) {
		_, none := p.looks.Lstat(filepath.Join(at, Dir))
		_, noGit := p.looks.Lstat(filepath.Join(at, ".git"))
		if none == nil || noGit == nil {
			p.Root = at
			break
		}
	}
	p.places = []string{p.Root}
	main, _ := git.MainTree(p.looks, p.Root)
	for _, other := range []string{main, getenv("CLAUDE_PROJECT_DIR")} {
		if other == "" {
			continue
		}
		if other, err := p.resolve(other); err == nil && !slices.Contains(p.places, other) && p.usable(other) {
			p.places = append(p.places, other)
		}
	}
	return p, nil
}

// Is reports whether a directory is the project's root.
func (p Project) Is(dir string) bool {
	dir, err := p.resolve(dir)
	return err == nil && dir == p.Root
}

// resolve returns a directory's absolute path without links.
func (p Project) resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := p.looks.EvalSymlinks(abs)
	if err != nil {
		if at := new(fs.PathError); errors.As(err, &at) { // it names the part that is missing
			err = at.Err
		}
		return "", &fs.PathError{Op: "open", Path: abs, Err: err}
	}
	if info, err := p.looks.Lstat(real); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", abs)
	}
	return real, nil
}

// usable reports whether a directory may be a project: another user could put a policy into one that others can write.
func (p Project) usable(dir string) bool {
	if dir == filepath.Dir(dir) {
		return false
	}
	info, err := p.looks.Lstat(dir)
	if err != nil || !info.IsDir() || shared(dir, p.home, info) {
		return false
	}
	theirs, err := p.looks.Lstat(p.home)
	if err == nil && !theirs.IsDir() { // a link
		theirs, err = os.Stat(p.home)
	}
	return err != nil || !os.SameFile(info, theirs)
}
