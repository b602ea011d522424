package store

import (
	"bytes"
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

// ReadLog gives the latest n decisions that match, the newest last, from the
// log and the rotated one; n of 0 or less is all. It reads from the end and no
// further than it must. Lines that are not whole JSON are skipped, and match
// does not see them; a nil match takes all. The lines have no line break, and
// are the caller's. An absent log is empty.
func (s *Store) ReadLog(match func(line []byte) bool, n int) ([][]byte, error) {
	if s.dir == "" {
		return nil, nil
	}
	f, info, err := openToRead(s.path(logName))
	if err != nil {
		return nil, &Error{Path: s.path(logName), Op: "read", Err: err}
	}
	var size int64
	if f != nil {
		defer f.Close()
		size = info.Size()
	}
	return s.readLog(f, size, match, n)
}

// readLog reads the first size bytes of the log f, which may be nil, and the
// rotated log before it.
func (s *Store) readLog(f *os.File, size int64, match func(line []byte) bool, n int) ([][]byte, error) {
	var found [][]byte
	take := func(line []byte) bool {
		if isDecision(line, match) {
			found = append(found, bytes.Clone(bytes.TrimSpace(line)))
		}
		return n <= 0 || len(found) < n
	}
	fail := func(name string, err error) error {
		return &Error{Path: s.path(name), Op: "read", Err: err}
	}
	more := true
	if f != nil {
		var err error
		if more, err = backward(f, size, take); err != nil {
			return nil, fail(logName, err)
		}
	}
	if more {
		old, info, err := openToRead(s.path(logRotated))
		if err != nil {
			return nil, fail(logRotated, err)
		}
		if old != nil {
			defer old.Close()
			// Rotated just now: it is the file that was read under its old name.
			if !sameFile(f, info) {
				if _, err := backward(old, info.Size(), take); err != nil {
					return nil, fail(logRotated, err)
				}
			}
		}
	}
	slices.Reverse(found)
	return found, nil
}

// isDecision reports whether a line is whole JSON that matches.
func isDecision(line []byte, match func(line []byte) bool) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && line[0] == '{' && json.Valid(line) && (match == nil || match(line))
}

func sameFile(f *os.File, other os.FileInfo) bool {
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, other)
}

// openToRead opens a file; nil if there is none.
func openToRead(path string) (*os.File, os.FileInfo, error) {
	f, info, err := openFile(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return f, info, err
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
