package host

import (
	"bytes"
	"io"
)

// firstBlock is the size of the first block that is read; every further one is twice the size, so that a record of any
// size costs a number of copies that is linear in it.
const firstBlock = 64 << 10

// tail gives the lines of a file from the last to the first.
type tail struct {
	r     io.ReaderAt
	pos   int64  // where held begins in the file
	held  []byte // read and not yet given
	block int64  // the size of the next block
	left  int64  // what remains of the budget
	read  int64
	done  bool  // there are no more lines
	cut   bool  // because the budget is spent
	rest  int64 // then: where the lines end that were not given

	cancelled func() error // the context's Err: the reading ends with the event for which it began
}

func newTail(r io.ReaderAt, size, budget int64, cancelled func() error) *tail {
	return &tail{r: r, pos: size, block: firstBlock, left: budget, cancelled: cancelled}
}

// beginsObject reports whether the file begins as a JSON object does, after a byte order mark and white space.
func (t *tail) beginsObject() (bool, error) {
	if err := t.cancelled(); err != nil {
		return false, err
	}
	head := make([]byte, min(64, t.pos))
	if len(head) == 0 {
		return false, nil
	}
	n, err := t.r.ReadAt(head, 0)
	t.read += int64(n)
	if n < len(head) {
		return false, short(err)
	}
	return bytes.HasPrefix(clean(head), []byte("{")), nil
}

// line gives the line before the one that it gave last, without its newline; the first one is what follows the last
// newline, "" if that ends the file. It stays valid.
func (t *tail) line() ([]byte, bool, error) {
	if t.done {
		return nil, false, nil
	}
	for search := len(t.held); ; {
		if i := bytes.LastIndexByte(t.held[:search], '\n'); i >= 0 {
			line := t.held[i+1:]
			t.held = t.held[:i]
			return line, true, nil
		}
		if t.pos == 0 {
			line := t.held
			t.held, t.done = nil, true
			return line, true, nil
		}
		n := min(t.block, t.pos, t.left)
		if n <= 0 {
			t.rest = t.pos + int64(len(t.held)) // what is held is a part of a line
			t.held, t.done, t.cut = nil, true, true
			return nil, false, nil
		}
		if err := t.fill(n); err != nil {
			t.done = true
			return nil, false, err
		}
		search = int(n) // the rest was searched before
	}
}

// fill puts the n bytes before pos in front of what is held.
func (t *tail) fill(n int64) error {
	if err := t.cancelled(); err != nil {
		return err
	}
	grown := make([]byte, n+int64(len(t.held)))
	got, err := t.r.ReadAt(grown[:n], t.pos-n)
	t.read += int64(got)
	if int64(got) < n {
		return short(err)
	}
	copy(grown[n:], t.held)
	t.held = grown
	t.pos -= n
	t.left -= n
	t.block *= 2
	return nil
}

// short is the error of a read that gave less than the file's size promised.
func short(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// clean is a line without byte order mark and surrounding white space.
func clean(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\ufeff")))
}
