package state

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Root is a directory below which files are read and changed. Nothing outside of it is opened, whatever links say. Links within it
// work, absolute ones too. It is safe for concurrent use.
//
// Paths count from the directory and have slashes. An absolute path, one with "..", and an empty one are errors that are
// [fs.ErrInvalid]. Errors are of type [*fs.PathError] and name the file.
type Root struct {
	root *os.Root
	dir  string // absolute
}

// Open opens a directory. The caller closes it.
func Open(dir string) (*Root, error) {
	abs, err := filepath.Abs(dir)
	var root *os.Root
	if err == nil {
		// The separator at the end makes the system refuse a pipe, instead of waiting for it.
		root, err = os.OpenRoot(abs + string(filepath.Separator))
	}
	if err != nil {
		return nil, fail("open", dir, err)
	}
	return &Root{root: root, dir: abs}, nil
}

// Close releases the directory.
func (r *Root) Close() error { return r.root.Close() }

// Dir returns the directory, absolute and, while it exists, without links.
func (r *Root) Dir() string {
	if real, err := filepath.EvalSymlinks(r.dir); err == nil {
		return real
	}
	return r.dir
}

// Below returns the full path of a directory below the root, without links; "" is the root itself.
func (r *Root) Below(dir string) (string, error) {
	rel := "."
	if dir != "" {
		var err error
		if rel, err = local(dir); err == nil {
			rel, err = r.real(rel)
		}
		if err != nil {
			return "", fail("dir", dir, err)
		}
	}
	return filepath.Join(r.Dir(), filepath.FromSlash(rel)), nil
}

// Contains reports whether a path is a directory or below it, as both are written.
func Contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// errLeaves is for a link to something outside of the root.
var errLeaves = errors.New("a link leaves the project")

// local returns a valid path, cleaned.
func local(name string) (string, error) {
	p := filepath.ToSlash(name)
	if err := inside(p); err != nil {
		return "", err
	}
	if !filepath.IsLocal(filepath.FromSlash(p)) || runtime.GOOS == "windows" && strings.Contains(p, ":") {
		return "", refused("is no name of a file on this system")
	}
	return path.Clean(p), nil
}

// refused is an error that is [fs.ErrInvalid], in words of its own.
type refused string

func (r refused) Error() string        { return string(r) }
func (r refused) Is(target error) bool { return target == fs.ErrInvalid }

// inside refuses a path or pattern that is not one from the root.
func inside(p string) error {
	switch {
	case p == "":
		return refused("the path is empty")
	case strings.IndexByte(p, 0) >= 0:
		return refused("the path has a NUL byte")
	case slices.Contains(strings.Split(p, "/"), ".."):
		return refused(`the path has "..": write it from the project's root`)
	case path.IsAbs(p), filepath.IsAbs(p):
		return refused("the path is absolute: write it from the project's root")
	}
	return nil
}

// real returns the path from the root without links. Of a path that does not exist, the directories that do are resolved.
func (r *Root) real(rel string) (string, error) {
	abs, err := filepath.EvalSymlinks(filepath.Join(r.dir, filepath.FromSlash(rel)))
	if errors.Is(err, fs.ErrNotExist) && rel != "." {
		if _, err := r.root.Lstat(rel); err == nil {
			return "", fs.ErrNotExist // a link to nothing
		}
		dir, err := r.real(path.Dir(rel))
		return path.Join(dir, path.Base(rel)), err
	}
	var system *fs.PathError
	switch {
	case errors.As(err, &system), errors.Is(err, syscall.ENOTDIR):
		return "", err
	case err != nil:
		return "", syscall.ELOOP // the one error that is not the system's
	}
	real, err := filepath.Rel(r.Dir(), abs)
	if err != nil || !filepath.IsLocal(real) {
		return "", errLeaves
	}
	return filepath.ToSlash(real), nil
}

// within calls f with a path, and if that fails because of a link, with the path without links: [os.Root] refuses all absolute links.
func (r *Root) within(rel string, f func(rel string) error) error {
	err := f(rel)
	var system *fs.PathError
	if !errors.As(err, &system) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return err
	}
	real, err2 := r.real(rel)
	switch {
	case err2 != nil:
		return err2
	case real == rel:
		return err
	}
	return f(real)
}

// stat describes what a path leads to.
func (r *Root) stat(rel string) (info fs.FileInfo, err error) {
	err = r.within(rel, func(rel string) error {
		info, err = r.root.Stat(rel)
		return err
	})
	return info, err
}

// fail returns the error of an operation on a file: the system's reason, with the path as the caller wrote it.
func fail(op, name string, err error) error {
	var inner *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &inner):
		err = inner.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
