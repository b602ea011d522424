// Package store keeps ralph's own files in the user's state directory: the memory of loops, locks, the decision log,
// and approvals.
//
// Writing is safe for concurrent processes, however they end. The package leaves out rules, hosts and the files of a
// project. Start with [DefaultDir] and [Open].
package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/ralph-sdk/ralph/internal/home"
)

// A Store is ralph's own directory: locks, the memory of loops, and the decision log. It is never in a project. It is
// created with mode 0700 when something is first written.
//
// A Store is safe for concurrent use, also by several processes.
type Store struct {
	Orders   // of ralph's own loops
	dir      string
	logTotal int // bytes of the log that are kept, 0 is the default

	// handover is passed from the goroutine that releases a lock to the one that takes it, because Go's memory model
	// does not cover file locks.
	handover sync.Mutex
}

// Open returns a store in dir, which need not exist yet. With an empty dir, reading finds nothing, and every write
// returns an [*Error].
func Open(dir string) *Store {
	s := &Store{dir: dir}
	s.Orders = OrdersIn(s, "")
	return s
}

// Dir returns the directory; "" if there is none.
func (s *Store) Dir() string { return s.dir }

// DefaultDir returns RALPH_STATE_DIR, otherwise "ralph" in the system's directory for the state of a user's programs.
// That is XDG_STATE_HOME or ~/.local/state, on macOS ~/Library/Application Support, on Windows %LocalAppData%. Of
// RALPH_STATE_DIR and XDG_STATE_HOME only an absolute path counts: a relative one would be another directory, with
// other counts, wherever the agent is. It fails if the environment names none.
func DefaultDir(getenv func(string) string) (string, error) {
	return defaultDir(runtime.GOOS, getenv)
}

func defaultDir(goos string, getenv func(string) string) (string, error) {
	if dir := getenv("RALPH_STATE_DIR"); filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	base, needs := "", "HOME"
	switch goos {
	case "windows":
		base, needs = getenv("LocalAppData"), "LocalAppData"
	case "darwin", "ios":
		if home := getenv("HOME"); home != "" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	default:
		base = getenv("XDG_STATE_HOME")
		if !filepath.IsAbs(base) {
			base = ""
		}
		if home := getenv("HOME"); base == "" && home != "" {
			base = filepath.Join(home, ".local", "state")
		}
	}
	if base == "" {
		return "", fmt.Errorf("there is no place for ralph's state: set RALPH_STATE_DIR to an absolute path, or set %s", needs)
	}
	return filepath.Join(base, "ralph"), nil
}

var errNoStore = errors.New("there is no directory for ralph's state: set RALPH_STATE_DIR to an absolute path")

// Refused returns why the directory must not be used for a project: other users can write to it, or it is inside the
// project, which could then bring approvals. Such a directory approves nothing, and no loop continues with it. The
// error is an [*Error].
func (s *Store) Refused(root string) error {
	if err := s.shared(); err != nil || s.dir == "" {
		return err
	}
	project, err := os.Stat(root)
	for _, at := range slices.Compact([]string{s.dir, resolved(s.dir)}) {
		for above := ""; err == nil && at != above; at, above = filepath.Dir(at), at {
			if info, err := os.Stat(at); err == nil && os.SameFile(info, project) {
				return &Error{Path: s.dir, Op: "use", Err: errors.New("it is inside the project " + root + "; set RALPH_STATE_DIR to another directory")}
			}
		}
	}
	return nil
}

// shared returns an error if other users can write to the directory, which need not exist.
func (s *Store) shared() error {
	if info, err := os.Stat(s.dir); err == nil && home.Shared(info) {
		return &Error{Path: s.dir, Op: "use", Err: errors.New("other users can write to it; run chmod 700 on it, or set RALPH_STATE_DIR to another directory")}
	}
	return nil
}

// resolved returns a path without links, as far as it exists.
func resolved(path string) string {
	if dir, err := filepath.EvalSymlinks(path); err == nil || path == filepath.Dir(path) {
		return cmp.Or(dir, path)
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}

// path joins names to the directory.
func (s *Store) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// ensure makes a directory inside the store, or the store itself.
func (s *Store) ensure(op string, names ...string) error {
	if s.dir == "" {
		return &Error{Op: op, Err: errNoStore}
	}
	if err := s.shared(); err != nil {
		return err
	}
	dir := s.path(names...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &Error{Path: dir, Op: op, Err: err}
	}
	return nil
}

// fileName returns a file name for any key that is valid on every file system.
func fileName(key, suffix string) string { return digest([]byte(key)) + suffix }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// replace writes a file by way of a temporary one.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
