package git

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// repo is a repository with one of its work trees.
type repo struct {
	top    string // the work tree
	dir    string // the work tree's own data, such as HEAD and the index
	common string // the shared data
	linked bool   // the work tree is one of several, and both name each other
}

// MainTree returns the directory of the main work tree of a linked work tree, if dir is the top of one and its repository points back.
// It starts no program.
func MainTree(dir string) (string, bool) {
	if info, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || info.IsDir() {
		return "", false
	}
	r := at(dir)
	if r == nil || !r.linked || filepath.Base(r.common) != ".git" {
		return "", false // it is none, or the repository is bare
	}
	return filepath.Dir(r.common), true
}

// find returns the repository of the nearest work tree that contains a directory.
func find(dir string) (*repo, error) {
	top, err := filepath.Abs(dir)
	for err == nil {
		if r := at(top); r != nil {
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
func at(top string) *repo {
	link := filepath.Join(top, ".git")
	info, err := os.Stat(link)
	if err != nil {
		return nil
	}
	r := &repo{top: top}
	if info.IsDir() {
		if _, err := os.Lstat(filepath.Join(link, "HEAD")); err != nil {
			return nil // git ignores it
		}
		r.dir, _ = filepath.EvalSymlinks(link)
		r.common = r.dir
		return r
	}
	r.dir = follow(link, "gitdir: ")
	r.common = r.dir
	if common := follow(filepath.Join(r.dir, "commondir"), ""); common != "" {
		r.common = common
		link, _ = filepath.EvalSymlinks(link)
		r.linked = filepath.Dir(r.dir) == filepath.Join(common, "worktrees") && follow(filepath.Join(r.dir, "gitdir"), "") == link
	}
	return r
}

// follow returns the path that a small file holds, without links, or "".
func follow(file, before string) string {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<10 {
		return ""
	}
	b, err := os.ReadFile(file)
	path, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), before)
	if err != nil || !ok {
		return ""
	}
	return resolve(filepath.Dir(file), path)
}

// resolve returns a path that counts from a directory, without links, or "".
func resolve(dir, path string) string {
	if path == "" {
		return ""
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return path
}
