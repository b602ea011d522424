package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

const (
	liveSuffix = ".live" // has the owner that holds the lock of a lease
	maxOwner   = 4 << 10
)

func leaseLock(name string) string { return "lease\x00" + name }

// Hold takes a lease. If another has it, holder is its owner, and release and err are nil. The lease ends with the process,
// however that ends. Errors are [*Error].
func (s *Store) Hold(ctx context.Context, name, owner string) (release func(), holder string, err error) {
	if holder, err = s.Holder(name); holder != "" || err != nil {
		return nil, holder, err
	}
	unlock, err := s.Lock(ctx, []string{leaseLock(name)})
	if errors.Is(err, ErrHeld) { // another took it just now
		if holder, _ = s.Holder(name); holder != "" {
			return nil, holder, nil
		}
	}
	if err != nil {
		return nil, "", err
	}
	path := s.leasePath(name)
	text, err := json.Marshal(owner)
	if err == nil {
		err = s.write("write", text, maxOwner, runDir, filepath.Base(path))
	}
	if err != nil {
		unlock()
		return nil, "", err
	}
	return sync.OnceFunc(func() { os.Remove(path); unlock() }), "", nil
}

// Holder returns the owner of a lease, or "". It removes what a process that was killed has left. The error is an [*Error].
func (s *Store) Holder(name string) (owner string, err error) {
	if s.dir == "" {
		return "", nil
	}
	path := s.leasePath(name)
	b, err := readFile(path, maxOwner)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", failed("read", path, err)
	}
	if err := s.ensure("lock", lockDir); err != nil {
		return "", err
	}
	// The lock is shared, so that those who look at once do not take one another for the owner.
	lock := s.path(lockDir, fileName(leaseLock(name), lockSuffix))
	l, err := openLock(lock, (*flock.Flock).TryRLock)
	switch {
	case err != nil:
		return "", &Error{Path: lock, Op: "lock", Err: err}
	case l != nil:
		os.Remove(path) // its owner was killed, and none begins while the lock is shared
		l.Unlock()
		return "", nil
	case json.Unmarshal(b, &owner) != nil || owner == "":
		return "", &Error{Path: path, Op: "read", Err: errors.New("it does not name the owner of the lease")}
	}
	return owner, nil
}

func (s *Store) leasePath(name string) string {
	return s.path(runDir, fileName(leaseLock(name), liveSuffix))
}
