package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/state"
)

// Default is the name of the policy that decides where no other is named.
const Default = "policy"

// File is a policy file that a name led to.
type File struct {
	Name   string // without directory and ending, on one line
	Path   string // full; "" if ralph ships it
	Source []byte
}

// Shown returns what to call the file in messages: its path from the project's root, or the whole path if it is elsewhere.
func (f File) Shown(p Project) string {
	if f.Path == "" {
		return f.Name + ".yaml (shipped with ralph)"
	}
	if rel, err := filepath.Rel(p.Root, f.Path); err == nil && state.Contains(p.Root, f.Path) {
		return text.Line(filepath.ToSlash(rel))
	}
	return text.Line(f.Path)
}

// Policy returns the policy of a name. A name without .yaml and slash is .ralph/local/NAME.yaml, .ralph/NAME.yaml, else the shipped one. With
// either it is that file, below the project or below .ralph. The error is fs.ErrNotExist if there is none.
func (p Project) Policy(name string) (File, error) {
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".yaml") {
		return p.file(name)
	}
	if name == "" || strings.HasPrefix(name, ".") {
		return File{}, notFound(fmt.Sprintf("%q is no name of a policy: write NAME for .ralph/NAME.yaml, or the path of a file", name))
	}
	for _, place := range p.places {
		for _, dir := range []string{"local/", ""} {
			f, err := read(place, Dir+"/"+dir+name+".yaml")
			if !errors.Is(err, fs.ErrNotExist) {
				return f, err
			}
		}
	}
	if src, ok := examples.Policy(name); ok {
		return File{Name: name, Source: src}, nil
	}
	stem := strings.TrimSuffix(name, ".yml")
	for _, place := range p.places {
		if yml := filepath.Join(place, Dir, stem+".yml"); exists(yml) {
			return File{}, notFound(fmt.Sprintf("%s is not read: rename it to %s.yaml", yml, stem))
		}
	}
	if name == Default {
		return File{}, notFound(fmt.Sprintf("there is no .ralph/policy.yaml in %s: write one with ralph init, or name another policy", p.Root))
	}
	known := append(p.Names(), examples.Names()...)
	slices.Sort(known)
	known = slices.Compact(known)
	return File{}, notFound(fmt.Sprintf("no policy %s in %s, and ralph ships none of that name; %s",
		name, filepath.Join(p.Root, Dir), cmp.Or(text.Nearest(name, known), "there is "+strings.Join(known, ", "))))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// notFound is an fs.ErrNotExist that says which policies there are.
type notFound string

func (e notFound) Error() string        { return string(e) }
func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// file returns the policy file that a path names.
func (p Project) file(name string) (File, error) {
	if filepath.IsAbs(name) {
		return read(filepath.Dir(name), filepath.Base(name))
	}
	var found []File
	for _, place := range p.places {
		for i, at := range []string{name, Dir + "/" + name} {
			if i > 0 && strings.HasPrefix(name, "./") {
				break // it is from the root
			}
			f, err := read(place, filepath.ToSlash(at))
			if err == nil {
				found = append(found, f)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return File{}, err
			}
		}
		if len(found) > 1 {
			return File{}, fmt.Errorf("%s is %s and %s: write the path from the project's root, with ./ in front, or rename one", name, found[0].Path, found[1].Path)
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	var known []string
	for _, other := range p.Names() {
		if f, err := p.Policy(other); err == nil {
			known = append(known, f.Shown(p))
		}
	}
	return File{}, notFound(fmt.Sprintf("no policy file %s below %s; %s", name, p.Root, cmp.Or(text.Nearest(name, known), "ralph init writes one")))
}

// read reads a policy file below a directory.
func read(dir, name string) (File, error) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Lstat(full); err != nil && errors.Is(err, fs.ErrNotExist) {
		return File{}, err
	}
	root, err := state.Open(dir)
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	f, err := root.Read(name)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", full, err)
	}
	return File{Name: text.Line(strings.TrimSuffix(filepath.Base(full), ".yaml")), Path: full, Source: f.Bytes}, nil
}

// Names lists the names of the policies in .ralph and .ralph/local, sorted.
func (p Project) Names() []string {
	var names []string
	for _, place := range p.places {
		for _, dir := range []string{"", "local"} {
			entries, _ := os.ReadDir(filepath.Join(place, Dir, dir))
			for _, e := range entries {
				if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !e.IsDir() && !strings.HasSuffix(name, "_test") {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
