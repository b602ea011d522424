package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNone reports that there is no repository.
var ErrNone = errors.New("there is no git repository")

// maxLink bounds a file that links a working tree and its repository.
const maxLink = 4 << 10

// Find returns the repository of the nearest working tree that contains a directory, or [ErrNone]. It does not find
// bare repositories: a clone can contain one.
func Find(dir string) (*Repo, error) {
	for top := dir; ; top = filepath.Dir(top) {
		r, err := At(top)
		if errors.Is(err, ErrNone) && top != filepath.Dir(top) {
			continue
		}
		r.cwd = dir
		return r, err
	}
}

// At returns the repository of the working tree at a directory. It is never nil.
func At(top string) (*Repo, error) {
	r := &Repo{Top: top, cwd: top}
	at := filepath.Join(top, ".git")
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return r, ErrNone
	case info.IsDir():
		if _, err := os.Lstat(filepath.Join(at, "HEAD")); err != nil {
			return r, ErrNone // git ignores it
		}
		r.dir, err = filepath.EvalSymlinks(at)
	default:
		r.dir = follow(top, ".git", "gitdir: ")
	}
	r.common = r.dir
	if _, missing := os.Lstat(filepath.Join(r.dir, "commondir")); missing == nil {
		r.common = follow(r.dir, "commondir", "")
	}
	switch {
	case r.dir == "" || r.common == "":
		return r, fmt.Errorf("%s does not lead to a repository", at)
	case info.IsDir() && r.common == r.dir: // it is the repository
	case !r.pointsBack():
		return r, fmt.Errorf("%s names a repository that does not name it, so it is not used", at)
	}
	return r, err
}

// pointsBack reports whether the repository that .git names refers to the working tree: by gitdir as that of a linked
// one, or by core.worktree as that of a submodule. Anyone can write a file that names another repository.
func (r *Repo) pointsBack() bool {
	if r.common != r.dir {
		return r.LinkedTo(r)
	}
	top, err := filepath.EvalSymlinks(r.Top)
	if err != nil {
		return false
	}
	tree := filepath.FromSlash(workTree(filepath.Join(r.dir, "config")))
	if tree != "" && !filepath.IsAbs(tree) {
		tree = filepath.Join(r.dir, tree)
	}
	tree, err = filepath.EvalSymlinks(tree)
	return err == nil && tree == top
}

// workTree returns core.worktree in a configuration as git writes it, or "". git itself is not asked: a configuration
// can include other files.
func workTree(config string) (tree string) {
	info, err := os.Stat(config)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxOutput {
		return ""
	}
	src, err := os.ReadFile(config)
	if err != nil {
		return ""
	}
	section := ""
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.ToLower(line)
		case section == "[core]" && strings.EqualFold(strings.TrimSpace(key), "worktree"):
			tree = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `"`, "").Replace(strings.TrimSpace(value)) // as git quotes it
		}
	}
	return tree
}

// Main returns the main working tree of a linked one, "" if r is not linked.
func (r *Repo) Main() string {
	if filepath.Base(r.common) != ".git" || !r.LinkedTo(r) {
		return ""
	}
	return filepath.Dir(r.common)
}

// LinkedTo reports whether r is a linked working tree of the same repository as other. Both must refer to each other:
// the file .git to a directory of the repository, and the file gitdir in it to that file. A directory that only claims
// to be a working tree does not count.
func (r *Repo) LinkedTo(other *Repo) bool {
	link, err := filepath.EvalSymlinks(filepath.Join(r.Top, ".git"))
	return err == nil && r.common == other.common && filepath.Dir(r.dir) == filepath.Join(r.common, "worktrees") && follow(r.dir, "gitdir", "") == link
}

// AddTree creates a linked working tree, with a new branch at HEAD.
func (r *Repo) AddTree(ctx context.Context, branch, dir string) error {
	trees := filepath.Join(r.common, "worktrees")
	if err := os.MkdirAll(trees, 0o777); err != nil {
		return err
	}
	if _, err := r.Run(ctx, "worktree", "add", "-b", branch, "--", dir, "HEAD"); err != nil {
		return err
	}
	link := filepath.Join(dir, ".git") // git wrote its own view of the repository
	return os.WriteFile(link, []byte("gitdir: "+filepath.ToSlash(filepath.Join(trees, filepath.Base(readLink(link))))+"\n"), 0o644)
}

// follow returns the path in a file of a directory, without links, or "".
func follow(dir, name, before string) string {
	path, ok := strings.CutPrefix(readLink(filepath.Join(dir, name)), before)
	path = filepath.FromSlash(path)
	if !ok || path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return path
}

// readLink reads a small regular file of one line; it returns "" for anything else.
func readLink(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLink {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line := strings.TrimRight(string(b), "\r\n")
	if strings.ContainsAny(line, "\r\n\x00") {
		return ""
	}
	return line
}
