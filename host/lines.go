package host

import (
	"bytes"
	"io"
)

// The bounds of reading, in bytes. A window is all the memory that a search beyond Options.MaxBytes takes, whatever the
// size of a record; of a record that does not fit, or that is larger than a glance, its beginning is looked at first.
const (
	farWindow  = 8 << 20
	farBlock   = 1 << 20
	farGlance  = 16 << 10
	firstBlock = 64 << 10
)

// backwards reads the lines of a file before an offset, from the last to the first. Each block is twice the size of the
// one before, up to half of the window, and the window grows with them: a record of any size costs a number of copies that
// is linear in it.
type backwards struct {
	r           io.ReaderAt
	pos         int64 // where window[start:] begins in the file
	left        int64 // what remains of the budget
	most        int64 // bytes that the window may have
	keep        bool  // each block has a window of its own, so that lines stay as they are
	read        int64
	window      []byte
	start, stop int   // what is held of it: read and not yet returned
	block       int64 // the size of the next one
	long        bool  // what is held is the beginning of a line that did not fit
	done        bool  // there are no more lines
	cut         bool  // because the budget is spent

	cancelled func() error // the context's Err: the reading ends with the event for which it began
}

// newBackwards reads with a window that grows as far as the budget: no line is long.
func newBackwards(r io.ReaderAt, pos, budget int64, cancelled func() error) *backwards {
	return &backwards{r: r, pos: pos, left: budget, most: budget, keep: true, block: firstBlock, cancelled: cancelled}
}

// newFar reads with a window of farWindow bytes, whatever the budget.
func newFar(r io.ReaderAt, pos, budget int64, cancelled func() error) *backwards {
	b := &backwards{r: r, pos: pos, left: budget, most: farWindow, block: farBlock, cancelled: cancelled}
	b.window, b.start, b.stop = make([]byte, farWindow), farWindow, farWindow
	return b
}

// beginsObject reports whether the file begins as a JSON object does, after a byte order mark and white space.
func (b *backwards) beginsObject() (bool, error) {
	if err := b.cancelled(); err != nil {
		return false, err
	}
	head := make([]byte, min(64, b.pos))
	if len(head) == 0 {
		return false, nil
	}
	n, err := b.r.ReadAt(head, 0)
	b.read += int64(n)
	if n < len(head) {
		return false, short(err)
	}
	return bytes.HasPrefix(clean(head), []byte("{")), nil
}

// rest is where the lines end that were not returned.
func (b *backwards) rest() int64 { return b.pos + int64(b.stop-b.start) }

// line returns the line before the one that it returned last, without its newline; the first one is what follows the last
// newline, "" if that ends the file. It is valid until the next call. Of a line that does not fit into the window it
// returns the beginning, farGlance bytes at least, and long.
func (b *backwards) line() (line []byte, long, ok bool, err error) {
	if b.done {
		return nil, false, false, nil
	}
	for search := b.stop; ; {
		if i := bytes.LastIndexByte(b.window[b.start:search], '\n'); i >= 0 {
			i += b.start
			line, long = b.window[i+1:b.stop], b.long
			b.stop, b.long = i, false
			return line, long, true, nil
		}
		if b.pos == 0 {
			b.done = true
			return b.window[b.start:b.stop], b.long, true, nil
		}
		n := int(min(b.block, b.pos, b.left))
		b.block = min(2*b.block, b.most/2)
		if n <= 0 {
			b.done, b.cut = true, true
			return nil, false, false, nil
		}
		if err := b.fill(n); err != nil {
			b.done = true
			return nil, false, false, err
		}
		search = b.start + n // the rest was searched before
	}
}

// fill puts the n bytes before pos in front of what is held.
func (b *backwards) fill(n int) error {
	if err := b.cancelled(); err != nil {
		return err
	}
	if b.start < n || b.keep {
		held := b.window[b.start:b.stop]
		if int64(len(held)+n) > b.most {
			held, b.long = held[:farGlance], true
		}
		if b.keep {
			b.window = make([]byte, n+len(held))
		}
		b.start, b.stop = len(b.window)-copy(b.window[len(b.window)-len(held):], held), len(b.window)
	}
	got, err := b.r.ReadAt(b.window[b.start-n:b.start], b.pos-int64(n))
	b.read += int64(got)
	if got < n {
		return short(err)
	}
	b.start -= n
	b.pos -= int64(n)
	b.left -= int64(n)
	return nil
}

// short is the error of a read that returned less than the file's size promised.
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
