package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

const (
	logName    = "decisions.jsonl"
	logRotated = "decisions.jsonl.1"
)

// maxLogSize is how large the decision log grows before it is rotated: it
// becomes decisions.jsonl.1, and the one of that name before it is dropped.
const maxLogSize = 8 << 20

// followInterval is how often the log is looked at. Decisions come seconds apart.
const followInterval = 200 * time.Millisecond

// MaxLogLine is how long a line of the decision log may be.
const MaxLogLine = 1 << 20

// LineID names a line of the log: its time, then chance. Later ones sort behind earlier ones.
func LineID(at time.Time) string { return fmt.Sprintf("%016x%08x", at.UnixNano(), rand.Uint32()) }

// AppendLog adds one decision, a JSON object, to the decision log. It is
// written in one piece, so that decisions of several processes never mix. Line
// breaks in it, which in JSON can only be white space, become blanks. It overwrites
// line. Errors are [*Error].
func (s *Store) AppendLog(line []byte) error {
	if err := s.ensure("log"); err != nil {
		return err
	}
	path := s.path(logName)
	fail := func(err error) error { return &Error{Path: path, Op: "log", Err: err} }
	if len(line) > MaxLogLine {
		return fail(fmt.Errorf("the decision takes %d bytes, more than %d", len(line), MaxLogLine))
	}
	f, size, err := s.openLog()
	if err != nil {
		return fail(err)
	}
	defer f.Close()

	for i, c := range line {
		if c == '\n' || c == '\r' {
			line[i] = ' '
		}
	}
	line = append(line, '\n')
	if size > 0 {
		// A line that a full disk tore must not take this one with it.
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err == nil && last[0] != '\n' {
			line = slices.Insert(line, 0, '\n')
		}
	}
	if _, err := f.Write(line); err != nil {
		return fail(err)
	}
	return nil
}

// openLog opens the log for one more line, after rotating it if it is full.
func (s *Store) openLog() (f *os.File, size int64, err error) {
	path := s.path(logName)
	for attempt := 0; ; attempt++ {
		f, info, err := openFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return nil, 0, err
		}
		if info.Size() < maxLogSize || attempt > 0 || !s.rotateLog() {
			return f, info.Size(), nil
		}
		f.Close()
	}
}

// rotateLog moves a full log away. It gives false if another process is at it,
// or if it cannot be done now; the log then grows a little more. A process
// that has the old file open writes its line there, and nothing is lost.
func (s *Store) rotateLog() bool {
	if s.ensure("log", lockDir) != nil {
		return false
	}
	l, err := tryLockFile(s.path(lockDir, fileName("log", lockSuffix)))
	if err != nil || l == nil {
		return false
	}
	defer l.Unlock()
	info, err := os.Stat(s.path(logName))
	if err != nil || info.Size() < maxLogSize {
		return true // somebody else did
	}
	return os.Rename(s.path(logName), s.path(logRotated)) == nil
}

// ReadLog returns the latest n decisions that match, the newest last, from the
// log and the rotated one; n of 0 or less is all. It reads from the end and no
// further than it must. Lines that are not whole JSON are skipped, and match
// does not see them; a nil match takes all. The lines have no line break, and
// are the caller's. A missing log is empty.
func (s *Store) ReadLog(match func(line []byte) bool, n int) (found [][]byte, err error) {
	err = s.decisions(func(line []byte) bool {
		if match == nil || match(line) {
			found = append(found, bytes.Clone(line))
		}
		return n <= 0 || len(found) < n
	})
	slices.Reverse(found)
	return found, err
}

// FollowLog hands the latest n decisions that match to take, the oldest first, and
// then each further one as it comes, until ctx is done. No decision is lost or shown
// twice, also when the log is rotated: no two decisions are equal. See [Store.ReadLog] for n, match and
// what a decision is. The error is that of ctx or an [*Error].
func (s *Store) FollowLog(ctx context.Context, match func(line []byte) bool, n int, take func(line []byte)) error {
	if s.dir == "" {
		return &Error{Op: "read", Err: errNoStore}
	}
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	var seen []byte // the latest decision
	for ; ; n = 0 {
		var found [][]byte
		latest := seen
		err := s.decisions(func(line []byte) bool {
			if bytes.Equal(line, seen) {
				return false
			}
			line = bytes.Clone(line)
			if bytes.Equal(latest, seen) {
				latest = line
			}
			if match == nil || match(line) {
				found = append(found, line)
			}
			return n <= 0 || len(found) < n
		})
		if err != nil {
			return err
		}
		seen = latest
		for _, line := range slices.Backward(found) {
			take(line)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// decisions hands the decisions of the log and of the rotated one to take, the latest first, until it has enough. The
// error is an [*Error].
func (s *Store) decisions(take func(line []byte) (more bool)) error {
	if s.dir == "" {
		return nil
	}
	var newer fs.FileInfo
	for _, path := range []string{s.path(logName), s.path(logRotated)} {
		f, info, err := openFile(path, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		more := true
		if err == nil && (newer == nil || !os.SameFile(newer, info)) { // else it was rotated just now, and is read
			more, err = backward(f, info.Size(), func(line []byte) bool {
				line = bytes.TrimSpace(line)
				return len(line) == 0 || line[0] != '{' || !json.Valid(line) || take(line)
			})
		}
		f.Close()
		if err != nil || !more {
			return failed("read", path, err)
		}
		newer = info
	}
	return nil
}

// backward hands the lines of the first size bytes of a file to take, the last
// first, until take has enough. It reports whether take wanted more.
func backward(f *os.File, size int64, take func(line []byte) bool) (more bool, err error) {
	const chunk = 64 << 10
	var tail []byte // the beginning of a line whose rest was not read yet
	for end := size; end > 0; {
		start := max(end-chunk, 0)
		block := make([]byte, end-start, int(end-start)+len(tail))
		if _, err := f.ReadAt(block, start); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		block = append(block, tail...)
		for {
			i := bytes.LastIndexByte(block, '\n')
			if i < 0 {
				break
			}
			if !take(block[i+1:]) {
				return false, nil
			}
			block = block[:i]
		}
		tail, end = block, start
		if len(tail) > 2*MaxLogLine {
			tail = nil // no line of ours is as long
		}
	}
	return take(tail), nil
}
