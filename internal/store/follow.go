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
				var past [][]byte
				if past, rest, err = s.past(f, info, match, n); err != nil {
					return fail(err)
				}
				for _, line := range past {
					take(line)
				}
			}
		}
		if f != nil {
			var err error
			if rest, err = newLines(f, rest, match, take); err != nil {
				return fail(err)
			}
			if rotated(f, s.path(logName)) {
				// Whoever had it open may have written a last line since.
				if _, err = newLines(f, rest, match, take); err != nil {
					return fail(err)
				}
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

// past gives the latest decisions up to the last whole line that the log holds now,
// and leaves f behind what it read; rest is the beginning of a further line.
func (s *Store) past(f *os.File, info os.FileInfo, match func([]byte) bool, n int) (lines [][]byte, rest []byte, err error) {
	if f == nil {
		lines, err = s.ReadLog(match, n) // of the rotated log, if there is one
		return lines, nil, err
	}
	size := info.Size()
	end := size
	var last [1]byte
	for ; end > 0; end-- {
		if _, err := f.ReadAt(last[:], end-1); err != nil {
			return nil, nil, err
		}
		if last[0] == '\n' {
			break
		}
	}
	rest = make([]byte, size-end)
	if _, err := f.ReadAt(rest, end); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		return nil, nil, err
	}
	lines, err = s.readLog(f, end, match, n)
	return lines, rest, err
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
