package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/internal/home"
)

// ralphDir is the directory that makes its parent a project.
const ralphDir = ".ralph"

// Above returns the project of a directory without links: the nearest directory, from itself upwards, with a directory
// .ralph or one of files, otherwise the nearest with .git, otherwise itself. The files are relative to a project; a
// link counts, a directory does not. A git worktree whose main tree has a directory .ralph is also a project, see
// [MainTree].
//
// The search ends at a directory in which another user could have put a policy: see [usable].
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

// PolicyName returns a policy's name for commands: without the project's directory of policies and the file's
// extension.
func PolicyName(full string) string {
	if name, ok := strings.CutPrefix(full, ralphDir+"/"); ok && !strings.Contains(name, "/") {
		return strings.TrimSuffix(name, ".yaml")
	}
	return full
}

// usable reports whether a directory may be a project: it is neither the root of the file system nor the home
// directory, belongs to this user, and only this user can write to it. For root it may be another's. If the system does
// not report who can write, only directories in the home directory are usable.
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

// MainTree returns the main working tree of the git worktree at dir, "" if dir is not one, see [git.Repo.Main].
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
