package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// Limits on what one approval compares.
const (
	maxProgram = 256 << 20 // bytes of a file
	maxFiles   = 1000      // files of a directory or a pattern
)

// A comparison computes the digests of files of the project. It remembers each file, so that a change in the meantime is
// seen.
type comparison struct {
	Policy
	read []stamp
}

// A stamp is a file as it was when it was read.
type stamp struct {
	path string
	info fs.FileInfo
}

// programs returns what a fact runs in the project, each by its path from the directory in which it runs: what covers:
// lists, otherwise the program and what an interpreter runs. started says that Args are those of a start.
func (p Policy) programs(f *rules.Fact, started bool, also []string) (all []store.Covered, err error) {
	words := argv(f, started)
	if words == nil {
		return nil, nil
	}
	c := &comparison{Policy: p}
	add := func(one store.Covered, err error) error {
		if err == nil && one.Name != "" && !slices.Contains(all, one) {
			all = append(all, one)
		}
		return err
	}
	var files []string
	for _, name := range also {
		files = append(files, local(name))
	}
	if f.Covers == nil {
		runs := commandOf(words)
		files = append(files, runs.files...)
		for _, dir := range runs.dirs {
			if err := add(c.dir(dir)); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range files {
		if err := add(c.file(name)); err != nil {
			return nil, err
		}
	}
	for _, pattern := range f.Covers {
		if err := add(c.glob(pattern)); err != nil {
			return nil, err
		}
	}
	return all, c.changed()
}

// Open returns what a fact runs or reads in the project and its approval does not cover.
func (p Policy) Open(f *rules.Fact) (open []string) {
	words := argv(f, false)
	if words == nil {
		return nil
	}
	if f.Covers == nil {
		return commandOf(words).open
	}
	for _, pattern := range f.Covers {
		if names, err := p.matches(pattern); err == nil && len(names) == 0 {
			open = append(open, "what matches "+pattern+": no file does now")
		}
	}
	return append(open, "what else "+words[0]+" runs or reads in this project")
}

// file returns a file that a command line names, without a name if it is none of the project.
func (c *comparison) file(name string) (one store.Covered, err error) {
	path, err := Program(c.dirName(), name)
	if err != nil { // no program, but an interpreter can run it
		path = under(c.dirName(), name)
	}
	info, err := os.Stat(path)
	relative := strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) // one that leads out of the project counts too
	if err != nil || info.IsDir() || !relative && !c.within(path) {
		return one, nil
	}
	one.Name = c.name(path)
	if one.Digest, err = c.digest(path); err != nil {
		return one, fmt.Errorf("%s cannot be read: %w", one.Name, err)
	}
	return one, nil
}

// dir returns a directory that a command line names, with all files in it.
func (c *comparison) dir(name string) (one store.Covered, err error) {
	path := under(c.dirName(), name)
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() || filepath.IsAbs(name) && !c.within(path) {
		return one, nil
	}
	one.Name = c.name(path) + "/"
	var names []string
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, at)
		}
		return cmp.Or(err, tooMany(names))
	})
	if err == nil {
		one.Digest, err = c.tree(path, names)
	}
	return one, wrong(one.Name, err)
}

// glob returns the files of the project that match a pattern.
func (c *comparison) glob(pattern string) (one store.Covered, err error) {
	one.Name = pattern
	names, err := c.matches(pattern)
	if err == nil {
		one.Digest, err = c.tree(c.dirName(), names)
	}
	return one, wrong(pattern, err)
}

// matches returns the paths of the files that match a pattern.
func (p Policy) matches(pattern string) (names []string, err error) {
	err = doublestar.GlobWalk(os.DirFS(p.dirName()), pattern, func(name string, _ fs.DirEntry) error {
		names = append(names, filepath.Join(p.dirName(), filepath.FromSlash(name)))
		return tooMany(names)
	}, doublestar.WithFilesOnly())
	return names, err
}

func tooMany(names []string) error {
	if len(names) > maxFiles {
		return fmt.Errorf("it has more than %d files; write covers: with those that count", maxFiles)
	}
	return nil
}

func wrong(name string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s cannot be compared: %w", name, err)
	}
	return err
}

// tree returns a digest of the names and contents of files. A link to a directory counts by its target's name.
func (c *comparison) tree(dir string, paths []string) (string, error) {
	h := sha256.New()
	slices.Sort(paths)
	for _, path := range paths {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return "", err
		}
		content, err := "", error(nil)
		if info, gone := os.Stat(path); gone != nil || info.IsDir() {
			content, err = os.Readlink(path)
		} else {
			content, err = c.digest(path)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", filepath.ToSlash(name), err)
		}
		fmt.Fprintf(h, "%q %s\n", filepath.ToSlash(name), content)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digest returns the digest of a file.
func (c *comparison) digest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", errors.Unwrap(err) // without the path, which may be outside of the project
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxProgram+1))
	if err == nil && n > maxProgram {
		err = fmt.Errorf("it is larger than %d MiB", maxProgram>>20)
	}
	if err != nil {
		return "", err
	}
	c.read = append(c.read, stamp{path, info})
	return hex.EncodeToString(h.Sum(nil)), nil
}

// changed returns which file changed since it was read: reading the others took time.
func (c *comparison) changed() error {
	for _, s := range c.read {
		now, err := os.Stat(s.path)
		if err != nil || !os.SameFile(s.info, now) || now.Size() != s.info.Size() || !now.ModTime().Equal(s.info.ModTime()) {
			return fmt.Errorf("%s changed while it was compared", c.name(s.path))
		}
	}
	return nil
}

// under returns a path joined to a directory, or the path if it is absolute.
func under(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// within reports whether a file is in the project or in the programs' directory, by its path or by its links.
func (p Policy) within(path string) bool {
	resolved, err := filepath.EvalSymlinks(path)
	return slices.ContainsFunc([]string{p.dirName(), p.Root}, func(dir string) bool {
		return isIn(dir, path) || err == nil && isIn(dir, resolved)
	})
}

func isIn(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// name returns a path relative to the programs' directory, or the project, so that a file has the same name in a
// worktree.
func (p Policy) name(path string) string {
	dir := p.dirName()
	if !isIn(dir, path) && isIn(p.Root, path) {
		dir = p.Root
	}
	if rel, err := filepath.Rel(dir, path); err == nil {
		path = rel
	}
	return strings.TrimSuffix(filepath.ToSlash(path), "/")
}

// dirName returns where programs run.
func (p Policy) dirName() string { return cmp.Or(p.Dir, p.Root) }
