package git

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// repo is a repository with one of its work trees.
type repo struct {
	top    string // the work tree
	dir    string // the work tree's own data, such as HEAD and the index
	common string // the shared data
	linked bool   // the work tree is one of several, and both name each other
}

// Looks remembers what paths are, so that one process looks at each of them once. It is for one moment, and not safe for concurrent use.
type Looks map[string]look

type look struct {
	info fs.FileInfo
	err  error
}

// Lstat is os.Lstat.
func (l Looks) Lstat(path string) (fs.FileInfo, error) {
	at, ok := l[path]
	if !ok {
		at.info, at.err = os.Lstat(path)
		l[path] = at
	}
	return at.info, at.err
}

// EvalSymlinks is filepath.EvalSymlinks of an absolute path.
func (l Looks) EvalSymlinks(path string) (string, error) {
	if path = filepath.Clean(path); runtime.GOOS == "windows" { // which has links of several kinds, and short names
		return filepath.EvalSymlinks(path)
	}
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := l.Lstat(at); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return filepath.EvalSymlinks(path)
		}
	}
	return path, nil
}

// MainTree returns the directory of the main work tree of a linked work tree, if dir is the top of one and its repository points back.
// It starts no program.
func MainTree(looks Looks, dir string) (string, bool) {
	if info, err := looks.Lstat(filepath.Join(dir, ".git")); err != nil || info.IsDir() {
		return "", false
	}
	r := at(looks, dir)
	if r == nil || !r.linked || filepath.Base(r.common) != ".git" {
		return "", false // it is none, or the repository is bare
	}
	return filepath.Dir(r.common), true
}

// find returns the repository of the nearest work tree that contains a directory.
func find(dir string) (*repo, error) {
	top, err := filepath.Abs(dir)
	for err == nil {
		if r := at(Looks{}, top); r != nil {
			return r, nil
		}
		if top == filepath.Dir(top) {
			err = fmt.Errorf("there is no git repository: %w", fs.ErrNotExist)
		}
		top = filepath.Dir(top)
	}
	return nil, err
}

// at returns the repository of a work tree, nil if the directory is none. A bare repository is none: a clone can contain one.
func at(looks Looks, top string) *repo {
	link, err := looks.EvalSymlinks(filepath.Join(top, ".git"))
	if err != nil {
		return nil
	}
	r := &repo{top: top}
	if info, err := looks.Lstat(link); err == nil && info.IsDir() {
		if _, err := looks.Lstat(filepath.Join(link, "HEAD")); err != nil {
			return nil // git ignores it
		}
		r.dir, r.common = link, link
		return r
	}
	r.dir = follow(looks, filepath.Join(top, ".git"), "gitdir: ")
	if r.common = r.dir; filepath.Base(filepath.Dir(r.dir)) == "worktrees" {
		r.common = filepath.Dir(filepath.Dir(r.dir))
		r.linked = follow(looks, filepath.Join(r.dir, "gitdir"), "") == link
	}
	return r
}

// follow returns the path that a small file holds, without links, or "".
func follow(looks Looks, file, before string) string {
	info, err := looks.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<10 {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, info.Size())
	n, _ := io.ReadFull(f, b)
	path, ok := strings.CutPrefix(strings.TrimRight(string(b[:n]), "\r\n"), before)
	if !ok {
		return ""
	}
	return resolve(looks, filepath.Dir(file), path)
}

// resolve returns a path that counts from a directory, without links, or "".
func resolve(looks Looks, dir, path string) string {
	if path == "" {
		return ""
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := looks.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return path
}
