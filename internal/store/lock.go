package store

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockDir    = "locks"
	lockSuffix = ".lock"
)

// Waiting for a lock asks again after a short while, and less often the longer
// it takes.
const (
	lockPollFirst = time.Millisecond
	lockPollMost  = 16 * time.Millisecond
)

// maxHeld is how long to wait for one holder of a lock. Each new holder starts the time again: many events of one
// session follow one another, while a blocked process must not hold up the others.
const maxHeld = 4 * time.Second

// ErrHeld reports that another process keeps a lock.
var ErrHeld error = heldError{}

type heldError struct{}

func (heldError) Error() string { return "another process has held it for " + maxHeld.String() }

// Lock takes the locks of all names, waiting for each until ctx is done or until one holder has kept it for four
// seconds. Names may be any strings, such as absolute paths of files. They are taken in order and each once, so that
// two callers with the same names in another order cannot wait for each other. A caller that holds locks may take more
// only in an order that all callers keep: memories before files.
//
// Locks keep out other processes as well as other goroutines. They end with the process, however it ends. The returned
// function releases them; calling it again does nothing. The error is an [*Error] that wraps ctx's error if its time
// was up.
//
// AppendLog needs no lock, and may be called while holding some. Not every network disk keeps locks between machines.
func (s *Store) Lock(ctx context.Context, names []string) (unlock func(), err error) {
	if err := s.ensure("lock", lockDir); err != nil {
		return nil, err
	}
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)

	var held []*flock.Flock
	release := func() {
		s.passOn()
		for _, l := range slices.Backward(held) {
			l.Unlock()
		}
		held = nil
	}
	for _, name := range names {
		l, err := lockFile(ctx, s.path(lockDir, fileName(name, lockSuffix)))
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, l)
	}
	s.passOn()
	return release, nil
}

// passOn orders what is done under a lock after what was done under it before.
func (s *Store) passOn() {
	s.handover.Lock()
	defer s.handover.Unlock()
}

// lockFile waits for the lock on a file.
func lockFile(ctx context.Context, path string) (*flock.Flock, error) {
	var taken time.Time // when its holder took it
	since := time.Now()
	for pause := lockPollFirst; ; pause = min(2*pause, lockPollMost) {
		if err := ctx.Err(); err != nil {
			return nil, &Error{Path: path, Op: "lock", Err: err}
		}
		l, err := tryLockFile(path)
		if err != nil {
			return nil, &Error{Path: path, Op: "lock", Err: err}
		}
		if l != nil {
			return l, nil
		}
		if info, err := os.Stat(path); err == nil && !info.ModTime().Equal(taken) {
			taken, since = info.ModTime(), time.Now()
		} else if time.Since(since) >= maxHeld {
			return nil, &Error{Path: path, Op: "lock", Err: ErrHeld}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)): // apart from those who also wait
		}
	}
}

// tryLockFile takes the lock on a file if it is free, else it returns nil.
func tryLockFile(path string) (*flock.Flock, error) {
	l, err := openLock(path, (*flock.Flock).TryLock)
	if l != nil {
		now := time.Now()
		os.Chtimes(path, now, now) // in use, hence not stale; those who wait see that it has another holder
	}
	return l, err
}

// openLock tries to lock a file, and returns nil if it is not free.
func openLock(path string, try func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|openNonblocking))
	if ok, err := try(l); err != nil || !ok {
		return nil, err
	}
	if ok, err := guards(l, path); !ok {
		l.Unlock()
		return nil, err
	}
	return l, nil
}

// guards reports whether the file at path is the one that l has locked. Clean may have removed that between opening and
// locking; no other process then looks at the lock.
func guards(l *flock.Flock, path string) (bool, error) {
	locked, err := l.Stat()
	if err == nil && !locked.Mode().IsRegular() {
		err = errNotRegular
	}
	there, gone := os.Stat(path)
	return err == nil && gone == nil && os.SameFile(locked, there), err
}
