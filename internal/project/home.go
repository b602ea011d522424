package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/state"
)

// Home is the directory in which ralph keeps its own files: counts, approvals, stops and the log.
type Home struct {
	Dir   string
	Log   string // the path of the log of decisions
	Store loop.Store
}

// OpenHome returns ralph's own directory: RALPH_STATE_DIR, else ralph in the user's directory of state. It is absolute, is not in a
// project that an agent can change, and belongs to the user alone. It makes nothing: the store makes the directory when it is written.
func OpenHome(p Project, getenv func(string) string) (*Home, error) {
	base := getenv("XDG_STATE_HOME")
	if runtime.GOOS == "windows" {
		base = getenv("LOCALAPPDATA")
	}
	if !filepath.IsAbs(base) {
		base = filepath.Join(p.home, ".local", "state")
	}
	dir := filepath.Clean(cmp.Or(getenv("RALPH_STATE_DIR"), filepath.Join(base, "ralph")))
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("ralph's own directory %s is no absolute path, so ralph cannot keep its counts: set RALPH_STATE_DIR or HOME to one", dir)
	}
	real := withoutLinks(p.looks, dir)
	if state.Contains(p.Root, dir) || state.Contains(p.Root, real) { // a link there would also be the agent's
		return nil, fmt.Errorf("ralph's own directory %s is in the project %s, where the agent can change it: set RALPH_STATE_DIR to another", dir, p.Root)
	}
	info, err := p.looks.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("ralph's own directory: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("ralph's own directory %s is no directory: remove it, or set RALPH_STATE_DIR to another", dir)
	case shared(dir, p.home, info):
		return nil, fmt.Errorf("ralph's own directory %s is another user's, or others can write to it: run chmod 700 on it, or set RALPH_STATE_DIR to another", dir)
	}
	return &Home{Dir: dir, Log: filepath.Join(dir, "decisions.jsonl"), Store: loop.Dir(filepath.Join(dir, "store"))}, nil
}

// withoutLinks returns a path with the links of the directories that exist resolved.
func withoutLinks(looks git.Looks, path string) string {
	real, err := looks.EvalSymlinks(path)
	if dir := filepath.Dir(path); err != nil && dir != path {
		return filepath.Join(withoutLinks(looks, dir), filepath.Base(path))
	}
	return cmp.Or(real, path)
}
