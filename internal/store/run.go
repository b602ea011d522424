package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

const (
	runDir     = "runs"
	runSuffix  = ".json"
	endSuffix  = ".end"
	liveSuffix = ".live" // has the ID of the run that holds the lock of a policy
	maxRunSize = 32 << 20
)

// ErrNoRun reports that no run with this ID is kept.
var ErrNoRun = errors.New("no run has this ID")

// SaveRun saves the progress of a run. Its ID must have only letters, digits and hyphens. Like a memory it is not
// synced to disk. The error is an [*Error].
func (s *Store) SaveRun(id string, line []byte) error {
	if path, err := s.runPath(id); err != nil {
		return failed("write", path, err)
	}
	return s.write("write", line, maxRunSize, runDir, id+runSuffix)
}

// LoadRun returns the saved progress of a run. The error is an [*Error], which wraps [ErrNoRun].
func (s *Store) LoadRun(id string) ([]byte, error) {
	path, err := s.runPath(id)
	var line []byte
	if err == nil {
		line, err = readFile(path, maxRunSize)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoRun
	}
	return line, failed("read", path, err)
}

// Runs returns the ids of the runs that are kept, the latest first. The error is an [*Error].
func (s *Store) Runs() ([]string, error) {
	files, err := s.list(runSuffix, runDir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, path := range files {
		if id := strings.TrimSuffix(filepath.Base(path), runSuffix); isRunID(id) {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids)
	return ids, nil
}

// EndRun requests the end of a run, or with end false withdraws that. The error is an [*Error].
func (s *Store) EndRun(id string, end bool) error {
	path, err := s.runPath(id)
	if path += endSuffix; err != nil {
		return failed("write", path, err)
	}
	if end {
		return s.write("write", nil, 0, runDir, filepath.Base(path))
	}
	return failed("write", path, remove(path))
}

// RunEnding reports whether the end of a run was requested.
func (s *Store) RunEnding(id string) bool {
	path, err := s.runPath(id)
	if err == nil {
		_, err = os.Lstat(path + endSuffix)
	}
	return err == nil
}

// RemoveRun removes a run. The error is an [*Error].
func (s *Store) RemoveRun(id string) error {
	path, err := s.runPath(id)
	if err == nil {
		err = remove(path)
	}
	if err != nil {
		return failed("remove", path, err)
	}
	return s.EndRun(id, false)
}

func (s *Store) runPath(id string) (string, error) {
	if s.dir == "" {
		return "", errNoStore
	}
	if !isRunID(id) {
		return s.path(runDir), errors.New("a run ID must consist of letters, digits and hyphens")
	}
	return s.path(runDir, id+runSuffix), nil
}

func isRunID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func runLock(root, policy string) string { return "run\x00" + root + "\x00" + policy }

// HoldRun takes the lock of the runs of a policy in a project. If another run holds it, live
// is its ID, and release and err are nil. The lock ends with the process, however that ends.
// Errors are [*Error].
func (s *Store) HoldRun(ctx context.Context, root, policy, id string) (release func(), live string, err error) {
	if live, err = s.LiveRun(root, policy); live != "" || err != nil {
		return nil, live, err
	}
	unlock, err := s.Lock(ctx, []string{runLock(root, policy)})
	if errors.Is(err, ErrHeld) { // another run took it just now
		if live, _ = s.LiveRun(root, policy); live != "" {
			return nil, live, nil
		}
	}
	if err != nil {
		return nil, "", err
	}
	path := s.livePath(root, policy)
	if err = s.write("write", []byte(id), len(id), runDir, filepath.Base(path)); err != nil {
		unlock()
		return nil, "", err
	}
	return func() { os.Remove(path); unlock() }, "", nil
}

// LiveRun returns the ID of the policy's live run in a project, or "". It removes leftovers of a killed run. The error
// is an [*Error].
func (s *Store) LiveRun(root, policy string) (id string, err error) {
	if s.dir == "" {
		return "", nil
	}
	path := s.livePath(root, policy)
	b, err := readFile(path, maxRunSize)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", failed("read", path, err)
	}
	if err := s.ensure("lock", lockDir); err != nil {
		return "", err
	}
	// The lock is shared, so that those who look at once do not take one another for the run.
	lock := s.path(lockDir, fileName(runLock(root, policy), lockSuffix))
	l, err := openLock(lock, (*flock.Flock).TryRLock)
	switch {
	case err != nil:
		return "", &Error{Path: lock, Op: "lock", Err: err}
	case l != nil:
		os.Remove(path) // the run was killed, and none begins while the lock is shared
		l.Unlock()
		return "", nil
	case !isRunID(string(b)):
		return "", &Error{Path: path, Op: "read", Err: errors.New("it does not contain the ID of a run")}
	}
	return string(b), nil
}

func (s *Store) livePath(root, policy string) string {
	return s.path(runDir, fileName(runLock(root, policy), liveSuffix))
}
