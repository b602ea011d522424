package project

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/state"
)

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
	old, err := r.open(r.path + ".1") // as loop.Log names it
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
