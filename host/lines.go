package host

import (
	"bytes"
	"io"
)

// The bounds of reading, in bytes. A window is all the memory that a search beyond Options.MaxBytes uses, whatever the
// size of a record; of a record larger than the window or a glance, the beginning is read first.
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
	keep        bool  // each block has its own window, so that lines stay valid
	read        int64
	window      []byte
	start, stop int   // the part of window that is read and not yet returned
	block       int64 // the size of the next one
	long        bool  // the bytes held are the beginning of a line that did not fit
	done        bool  // there are no more lines
	cut         bool  // because the budget is spent

	cancelled func() error // the context's Err: the reading ends with the event for which it began
}

// newBackwards returns a reader whose window grows up to the budget: no line is long.
func newBackwards(r io.ReaderAt, pos, budget int64, cancelled func() error) *backwards {
	return &backwards{r: r, pos: pos, left: budget, most: budget, keep: true, block: firstBlock, cancelled: cancelled}
}

// newFar returns a reader whose window has farWindow bytes, whatever the budget.
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

// rest returns the offset at which the unreturned lines end.
func (b *backwards) rest() int64 { return b.pos + int64(b.stop-b.start) }

// line returns the line before the one that it returned last, without its newline; the first is what follows the last
// newline, "" if the file ends with one. It is valid until the next call. If a line does not fit into the window, line
// returns at least farGlance bytes of its beginning, and long is true.
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
		search = b.start + n // the rest has been searched
	}
}

// fill reads the n bytes before pos to the front of the window.
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

// short returns the error of a read that ended before the file's size.
func short(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// clean returns a line without byte order mark and surrounding white space.
func clean(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\ufeff")))
}
