package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// followInterval is how often the log is looked at. Decisions come seconds apart.
const followInterval = 200 * time.Millisecond

// FollowLog hands the latest n decisions that match to take, the oldest first, and
// then each further one as it comes, until ctx is done. No decision is lost or shown
// twice, also when the log is rotated. n of 0 or less is all; a nil match takes
// all; what counts as a decision is as for [Store.ReadLog]. The error is that of
// ctx or an [*Error].
func (s *Store) FollowLog(ctx context.Context, match func(line []byte) bool, n int, take func(line []byte)) error {
	fail := func(err error) error { return &Error{Path: s.path(logName), Op: "read", Err: err} }
	if s.dir == "" {
		return &Error{Op: "read", Err: errNoStore}
	}
	var f *os.File
	defer func() {
		if f != nil {
			f.Close()
		}
	}()
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	var rest []byte // of a line that is not whole yet
	for first := true; ; first = false {
		if f == nil {
			opened, info, err := openToRead(s.path(logName))
			if err != nil {
				return fail(err)
			}
			f = opened
			if first {
				if err = s.past(f, info, match, n, take); err != nil {
					return fail(err)
				}
			}
		}
		if f != nil {
			// Whoever had the log open when it was rotated may have written a last line since.
			gone := rotated(f, s.path(logName))
			var err error
			if rest, err = newLines(f, rest, match, take); err != nil {
				return fail(err)
			}
			if gone {
				f.Close()
				f, rest = nil, nil
				continue
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// past takes the latest decisions up to the last whole line that the log holds now, and leaves f behind it.
func (s *Store) past(f *os.File, info os.FileInfo, match func([]byte) bool, n int, take func([]byte)) error {
	end := int64(0)
	if f != nil {
		tail := make([]byte, min(info.Size(), 2*MaxLogLine))
		if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		end = info.Size() - int64(len(tail)-bytes.LastIndexByte(tail, '\n')-1)
		if _, err := f.Seek(end, io.SeekStart); err != nil {
			return err
		}
	}
	lines, err := s.readLog(f, end, match, n)
	for _, line := range lines {
		take(line)
	}
	return err
}

// newLines hands over the lines that were added since, and gives what is left.
func newLines(f *os.File, rest []byte, match func([]byte) bool, take func([]byte)) ([]byte, error) {
	for {
		chunk := make([]byte, 64<<10)
		n, err := f.Read(chunk)
		rest = append(rest, chunk[:n]...)
		for {
			line, after, ok := bytes.Cut(rest, []byte("\n"))
			if !ok {
				break
			}
			rest = after
			if isDecision(line, match) {
				take(bytes.Clone(bytes.TrimSpace(line)))
			}
		}
		if len(rest) > 2*MaxLogLine {
			rest = nil // no line of ours is as long
		}
		switch {
		case errors.Is(err, io.EOF):
			return rest, nil
		case err != nil:
			return rest, err
		}
	}
}

// rotated reports whether another file has the name of the log.
func rotated(f *os.File, path string) bool {
	now, err := os.Stat(path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	was, err := f.Stat()
	return err == nil && !os.SameFile(was, now)
}
