package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/internal/home"
)

// ralphDir is the folder that makes a folder a project.
const ralphDir = ".ralph"

// Above returns the project that a directory without links belongs to: the nearest directory, from itself upwards, that
// has a directory .ralph or one of files, else the nearest with .git, else itself. The files are relative to a project;
// a link counts, a directory does not. A git worktree whose main tree has a directory .ralph is a project too, see
// [MainTree].
//
// The search ends at a directory that another user could have put a policy into: see [usable].
func Above(dir string, files []string, getenv func(string) string) string {
	end := home.Dir(getenv)
	git := ""
	for at := dir; usable(at, end); at = filepath.Dir(at) {
		if isDir(filepath.Join(at, ralphDir)) || holds(at, files) {
			return at
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err != nil {
			continue
		}
		if main := MainTree(at, getenv); main != "" && isDir(filepath.Join(main, ralphDir)) {
			return at
		}
		if git == "" {
			git = at
		}
	}
	if git != "" {
		return git
	}
	return dir
}

// holds reports whether one of files is in a directory.
func holds(dir string, files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		return filepath.IsLocal(filepath.FromSlash(name)) && err == nil && !info.IsDir()
	})
}

// PolicyName returns a policy as commands take it: one of the project's directory of policies without that directory and
// without the ending of its file.
func PolicyName(full string) string {
	if name, ok := strings.CutPrefix(full, ralphDir+"/"); ok && !strings.Contains(name, "/") {
		return strings.TrimSuffix(name, ".yaml")
	}
	return full
}

// usable reports whether a project may be found at a folder: it is neither the root of the
// file system nor the home directory, only this user can write to it, and it is this user's.
// For root it may be another's. Where the system does not say who can write, only folders
// within the home directory are usable.
func usable(dir, home string) bool {
	if dir == filepath.Dir(dir) {
		return false
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	if own, err := os.Stat(home); err == nil && os.SameFile(own, info) {
		return false
	}
	return private(dir, home, info)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// MainTree returns the main working tree of the git worktree at dir, "" if dir is none, see [git.Repo.Main].
func MainTree(dir string, getenv func(string) string) string {
	r, err := git.At(dir)
	if err != nil {
		return ""
	}
	main := r.Main()
	if main != "" && !usable(main, home.Dir(getenv)) {
		return ""
	}
	return main
}
