package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	cleanStamp    = "cleaned"
	cleanInterval = 24 * time.Hour

	// A temporary file lives for milliseconds. One that is as old as this was
	// left behind by a process that was killed.
	maxTempAge = time.Hour
)

// Clean removes memories, and locks that no process holds, that were not used for older before now. It does so at most
// once a day, never waits, and several processes may call it. What it cannot remove stays; the error wraps an [*Error]
// with the first reason.
func (s *Store) Clean(now time.Time, older time.Duration) error {
	if s.dir == "" {
		return nil
	}
	stamp := s.path(cleanStamp)
	info, err := os.Stat(stamp)
	switch {
	case err == nil:
		if age := now.Sub(info.ModTime()); age >= 0 && age < cleanInterval {
			return nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return failed("clean", stamp, err)
	default:
		if _, err := os.Stat(s.dir); err != nil {
			return nil // nothing was ever written
		}
	}
	// The stamp comes first: a clean-up that fails is not tried at every event.
	if err := touch(stamp, now); err != nil {
		return failed("clean", stamp, err)
	}
	return errors.Join(
		s.cleanDir(hintDir, documentSuffix, now.Add(-older), s.removeGuarded),
		s.cleanDir(memoryDir, memorySuffix, now.Add(-older), s.removeGuarded),
		s.cleanDir(resetDir, memorySuffix, now.Add(-older), removeTemp),
		s.cleanDir(memoryDir, ".tmp", now.Add(-maxTempAge), removeTemp),
		s.cleanDir(textDir, ".tmp", now.Add(-maxTempAge), removeTemp),
		s.cleanDir(lockDir, lockSuffix, now.Add(-older), removeLock),
	)
}

// ExpireMemories removes memories that were last saved before a time, unless keep wants one or it is being saved, and returns
// how many. The error wraps an [*Error] with the first reason.
func (s *Store) ExpireMemories(before time.Time, keep func(line []byte) bool) (n int, err error) {
	err = s.cleanDir(memoryDir, memorySuffix, before, func(path string, before time.Time) error {
		if m, err := readMemory(path); err == nil && keep(m.line) {
			return nil
		}
		err := s.removeGuarded(path, before)
		if err == nil && !exists(path) {
			n++
		}
		return err
	})
	return n, err
}

// cleanDir calls remove for the files of a directory that were last touched
// before a time.
func (s *Store) cleanDir(dir, suffix string, before time.Time, remove func(path string, before time.Time) error) error {
	files, first := s.list(suffix, dir)
	for _, path := range files {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		if err := remove(path, before); err != nil && !errors.Is(err, fs.ErrNotExist) && first == nil {
			first = failed("clean", path, err)
		}
	}
	return first
}

// removeGuarded removes a file unless it is just being written.
func (s *Store) removeGuarded(path string, before time.Time) error {
	if err := s.ensure("clean", lockDir); err != nil {
		return err
	}
	l, err := tryLockFile(s.path(lockDir, fileName(lockOf(filepath.Base(filepath.Dir(path)), filepath.Base(path)), lockSuffix)))
	if err != nil || l == nil {
		return err
	}
	defer l.Unlock()
	if info, err := os.Stat(path); err != nil || !info.ModTime().Before(before) {
		return err
	}
	return os.Remove(path)
}

func removeTemp(path string, _ time.Time) error { return os.Remove(path) }

// removeLock removes a lock file that no process holds, in a way that none can acquire it meanwhile: where open files
// can be removed it holds the lock, and a process that opened it before sees that it is gone; elsewhere the removal
// fails if the file is open.
func removeLock(path string, _ time.Time) error {
	l, err := tryLockFile(path)
	if err != nil || l == nil {
		return err
	}
	if openFilesGo {
		defer l.Unlock()
	} else {
		l.Unlock()
	}
	return os.Remove(path)
}

func touch(path string, at time.Time) error {
	f, _, err := openFile(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Chtimes(path, at, at)
}
