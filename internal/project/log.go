package project

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/state"
)

const (
	maxLog  = 8 << 20 // bytes of a log that is not rotated yet
	rotated = ".1"    // at the end of the name of one that was
)

// Record adds a decision to the log, one JSON object a line; it is a [loop.Recorder]. The log has mode 0600. One of 8 MiB is renamed to
// one with .1 at its end, which replaces the one before. Several processes may use the log; where two write at once, a blank line may be
// between their records.
func (h *Home) Record(ctx context.Context, r loop.Record) error {
	f, err := os.OpenFile(h.Log, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd) // fails for a pipe
	var last [1]byte
	if n, _ := f.ReadAt(last[:], size-1); n > 0 && last[0] != '\n' { // a full disk, or the end of its writer, cut it off
		_, err = f.WriteString("\n")
	}
	if err == nil {
		enc := json.NewEncoder(f) // JSON has no line breaks
		enc.SetEscapeHTML(false)
		err = enc.Encode(r)
	}
	if err := errors.Join(err, f.Close()); err != nil || size < maxLog {
		return err
	}
	return h.rotate(ctx)
}

// rotate renames the log, unless another process did.
func (h *Home) rotate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	lock := flock.New(h.Log+".lock", flock.SetFlag(os.O_CREATE|os.O_RDONLY|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("another process holds the log: %w", err)
	}
	defer lock.Unlock()
	if info, err := os.Stat(h.Log); err == nil && info.Size() >= maxLog {
		_ = os.Rename(h.Log, h.Log+rotated) // fails on Windows while somebody reads the log, which grows then
	}
	return nil
}

// Entry is a line of the log.
type Entry struct {
	loop.Record
	Line []byte
}

// LogReader reads the decisions of a project in the log, the oldest first. It follows the log when it is rotated. It is not safe for
// concurrent use.
type LogReader struct {
	path    string
	project string
	file    *os.File // nil: there is none yet
	lines   *bufio.Reader
	torn    []byte // the beginning of a line whose end is not written yet
}

// ReadLog returns a reader of the decisions of a project. There need be no log yet. The caller closes it.
func (h *Home) ReadLog(p Project) *LogReader { return &LogReader{path: h.Log, project: p.Root} }

// Decisions returns all decisions of a project in the log, the oldest first.
func (h *Home) Decisions(p Project) ([]Entry, error) {
	log := h.ReadLog(p)
	defer log.Close()
	return log.Next()
}

// Close releases the log.
func (r *LogReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Next returns the decisions that were not returned yet; none if there are none, so that it may be called again later. A line that cannot be
// read is left out: its writer was killed.
func (r *LogReader) Next() (all []Entry, err error) {
	for {
		next, err := r.successor() // found first: nothing is added to a file that has one
		if err != nil {
			return all, err
		}
		for r.file != nil {
			line, err := r.lines.ReadBytes('\n')
			if r.torn = append(r.torn, line...); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return all, err
			}
			e := Entry{Line: r.torn}
			if r.torn = nil; json.Unmarshal(e.Line, &e.Record) == nil && e.Project == r.project {
				all = append(all, e)
			}
		}
		if next == nil {
			return all, nil
		}
		if err := r.Close(); err != nil {
			return all, err
		}
		r.file, r.lines, r.torn = next, bufio.NewReader(next), nil
	}
}

// successor opens the file that follows the current one: the rotated log, if it is another one, else the log. It is nil while the current one
// is the log, or there is none.
func (r *LogReader) successor() (*os.File, error) {
	now, err := r.open(r.path)
	if err != nil || now != nil && now == r.file {
		return nil, err
	}
	old, err := r.open(r.path + rotated)
	if err == nil && (old == nil || old == r.file) {
		return now, nil
	}
	if now != nil {
		now.Close()
	}
	return old, err
}

// open opens a file. It is the current one if that has the name, and nil if there is none.
func (r *LogReader) open(path string) (*os.File, error) {
	f, info, err := state.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil || r.file == nil {
		return f, err
	}
	current, err := r.file.Stat()
	if err != nil || os.SameFile(current, info) {
		return r.file, errors.Join(err, f.Close())
	}
	return f, nil
}
