package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	logName    = "decisions.jsonl"
	logRotated = "decisions.jsonl.1" // and .2, and so on: the older, the higher
)

const (
	// maxLogSize is how large a file of the decision log grows before it is rotated: it becomes
	// decisions.jsonl.1, which becomes .2, and so on.
	maxLogSize = 8 << 20

	maxLogTotal   = 64 << 20 // of all files; the oldest is removed
	leastLogTotal = 2 * maxLogSize
	mostLogTotal  = 1 << 30
)

// KeepLog sets how much of the decision log is kept, such as "16MiB" or "1GiB"; "" is the default. An invalid size
// changes nothing and is an error.
func (s *Store) KeepLog(size string) error {
	if size == "" {
		return nil
	}
	number, unit := strings.CutSuffix(size, "MiB")
	shift := 20
	if !unit {
		number, unit = strings.CutSuffix(size, "GiB")
		shift = 30
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if total := n << shift; err == nil && unit && total >= leastLogTotal && total <= mostLogTotal {
		s.logTotal = int(total)
		return nil
	}
	return fmt.Errorf("must be a size from %dMiB to %dGiB, such as 256MiB; got %q", leastLogTotal>>20, mostLogTotal>>30, size)
}

// followInterval is how often to check the log. Decisions come seconds apart.
const followInterval = 200 * time.Millisecond

// MaxLogLine bounds a line of the decision log, in bytes.
const MaxLogLine = 1 << 20

// LineID returns an ID for a line of the log: its time, then a random number, so that later ones sort after earlier
// ones.
func LineID(at time.Time) string { return fmt.Sprintf("%016x%08x", at.UnixNano(), rand.Uint32()) }

// AppendLog appends one decision, a JSON object, to the decision log. One write keeps decisions of several processes
// apart. AppendLog replaces line breaks, which in JSON can only be white space, with blanks in line. Errors are
// [*Error].
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
	line = append(shared(f, size, bytes.TrimSpace(line)), '\n')
	if size > 0 {
		// A line cut by a full disk must not damage this one.
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

// rotateLog rotates a full log. It returns false if another process is rotating it, or if it cannot be done now; the
// log then grows a little more. A process with the old file open writes its line there, so nothing is lost.
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
		return true // another process did
	}
	most := cmp.Or(s.logTotal, maxLogTotal) / maxLogSize
	n := 1
	for n < most-1 && exists(s.logPath(n)) { // a rotation that was killed left one number free
		n++
	}
	var dropped time.Time
	for i := n; exists(s.logPath(i)); i++ {
		if info, err := os.Stat(s.logPath(i)); err == nil && info.ModTime().After(dropped) {
			dropped = info.ModTime()
		}
		if i > n && remove(s.logPath(i)) != nil { // more were kept before
			return false
		}
	}
	for ; n > 0; n-- {
		if os.Rename(s.logPath(n-1), s.logPath(n)) != nil {
			return false
		}
	}
	if !dropped.IsZero() { // later decisions touched the texts that they used
		_ = s.cleanDir(textDir, textSuffix, dropped.Add(-2*textAge), removeTemp)
	}
	return true
}

// logPath returns the path of a file of the log; number 0 is the newest.
func (s *Store) logPath(n int) string {
	if n == 0 {
		return s.path(logName)
	}
	return s.path(logName + "." + strconv.Itoa(n))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ReadLog returns the latest n decisions that match, the newest last, from the
// log and the rotated one; n of 0 or less is all. It reads from the end and no
// further than it must. Lines that are not whole JSON are skipped, and match
// does not see them; a nil match takes all. The lines have no line break, and
// are the caller's. A missing log is empty.
func (s *Store) ReadLog(match func(line []byte) bool, n int) (found [][]byte, err error) {
	err = s.Decisions(func(line []byte) bool {
		if match == nil || match(line) {
			found = append(found, bytes.Clone(line))
		}
		return n <= 0 || len(found) < n
	})
	slices.Reverse(found)
	return found, err
}

// FollowLog calls take for the latest n decisions that match, oldest first, and then for each further one, until ctx is
// done. No decision is lost or repeated, also when the log is rotated. See [Store.ReadLog] for n, match and what a
// decision is. The error is that of ctx or an [*Error].
func (s *Store) FollowLog(ctx context.Context, match func(line []byte) bool, n int, take func(line []byte)) error {
	if s.dir == "" {
		return &Error{Op: "read", Err: errNoStore}
	}
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	var before []*logFile
	for first := true; ; first = false {
		var found [][]byte
		more := func(line []byte) bool {
			if first && n > 0 && len(found) >= n {
				return false
			}
			if line != nil && (match == nil || match(line)) {
				found = append(found, bytes.Clone(line))
			}
			return true
		}
		files, err := s.openLogs()
		if first {
			for _, f := range files {
				err = cmp.Or(err, f.backward(more))
			}
			slices.Reverse(found)
		} else {
			for _, f := range slices.Backward(files) { // a process that opened a file before it was rotated writes to it later
				err = cmp.Or(err, f.forward(before, more))
			}
		}
		closeLogs(files)
		if err != nil {
			return err
		}
		before = files
		for _, line := range found {
			take(line)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Decisions hands the decisions of the log to take, the latest first, until it has enough. A line is valid
// only during the call. The error is an [*Error].
func (s *Store) Decisions(take func(line []byte) (more bool)) error {
	if s.dir == "" {
		return nil
	}
	files, err := s.openLogs()
	defer closeLogs(files)
	more := true
	for _, f := range files {
		if err == nil && more {
			err = f.backward(func(line []byte) bool {
				if line != nil {
					more = take(line)
				}
				return more
			})
		}
	}
	return err
}

// decisionIn returns the decision in a line, nil if there is none.
func decisionIn(line []byte) []byte {
	if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' && json.Valid(line) {
		return line
	}
	return nil
}

// A logFile is an open file of the log.
type logFile struct {
	*os.File
	info fs.FileInfo
	read int64 // end of the last line that was read
}

// openLogs opens the files of the log, the newest first. Files move on while they are opened; after a whole rotation
// it begins again. Close them. The error is an [*Error].
func (s *Store) openLogs() (files []*logFile, err error) {
	for {
		for n, missing := 0, 0; missing < 2; n++ { // a rotation leaves one number free
			f, info, err := openFile(s.logPath(n), os.O_RDONLY)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				missing++
			case err != nil:
				closeLogs(files)
				return nil, failed("read", s.logPath(n), err)
			case len(files) > 0 && os.SameFile(files[len(files)-1].info, info): // it has moved just now
				f.Close()
			default:
				files = append(files, &logFile{File: f, info: info})
			}
		}
		if newest, err := os.Stat(s.logPath(0)); err != nil || len(files) > 0 && os.SameFile(newest, files[0].info) {
			return files, nil
		}
		closeLogs(files)
		files = nil
	}
}

func closeLogs(files []*logFile) {
	for _, f := range files {
		f.Close()
	}
}

// forward hands the decisions of the file to take that came since it was among the files of before, nil for a line without
// one. The error is an [*Error].
func (f *logFile) forward(before []*logFile, take func(line []byte) bool) error {
	if i := slices.IndexFunc(before, func(old *logFile) bool { return os.SameFile(old.info, f.info) }); i >= 0 && before[i].read <= f.info.Size() {
		f.read = before[i].read // else another file has its place
	}
	data, err := io.ReadAll(io.NewSectionReader(f, f.read, f.info.Size()-f.read))
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(data) {
		take(f.decision(f.read, line))
		f.read += int64(len(line))
	}
	return failed("read", f.Name(), err)
}

// backward hands the decisions of the file to take, the last first, until take has enough, nil for a line without one.
// The error is an [*Error].
func (f *logFile) backward(take func(line []byte) bool) error {
	_, err := backward(f.File, f.info.Size(), func(at int64, line []byte) bool {
		decision := f.decision(at, line)
		if f.read == 0 && decision == nil { // what follows the last line end may be just being written
			f.read = f.info.Size() - int64(len(line))
		} else if f.read == 0 {
			f.read = f.info.Size()
		}
		return take(decision)
	})
	return failed("read", f.Name(), err)
}

// decision returns the decision in the line at an offset, with all its texts, nil if there is none.
func (f *logFile) decision(at int64, line []byte) []byte {
	if line = decisionIn(line); line == nil {
		return nil
	}
	return whole(f, at, line)
}

// backward hands the lines of the first size bytes of a file to take, the last first, until take has enough. at is where
// a line begins. It reports whether take wanted more.
func backward(f *os.File, size int64, take func(at int64, line []byte) bool) (more bool, err error) {
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
			if !take(start+int64(i)+1, block[i+1:]) {
				return false, nil
			}
			block = block[:i]
		}
		tail, end = block, start
		if len(tail) > 2*MaxLogLine {
			tail = nil // no line of ours is as long
		}
	}
	return take(0, tail), nil
}
