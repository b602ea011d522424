package host

import (
	"bytes"
	"io"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// The bounds of a search beyond Options.MaxBytes, in bytes. farWindow is all the memory that it takes, whatever the
// size of a record; of a record that does not fit, or that is larger than farGlance, its beginning is looked at first.
const (
	farWindow = 8 << 20
	farBlock  = 1 << 20
	farGlance = 16 << 10
)

// far gives the lines of a file before an offset from the last to the first, through a window of a fixed size. It is for
// turns that do not fit into Options.MaxBytes: what a tail gives stays in memory, what a far gives does not.
type far struct {
	r           io.ReaderAt
	pos         int64  // where window[start:] begins in the file
	left        int64  // what remains of the budget
	window      []byte // made when it is needed
	start, stop int    // what is held of it
	long        bool   // what is held is the beginning of a line that did not fit
	done        bool   // there are no more lines
	cut         bool   // because the budget is spent

	cancelled func() error
}

// line gives the line before the one that it gave last, without its newline. It is valid until the next call. Of one
// that does not fit into the window it gives the beginning, farGlance bytes at least, and long.
func (f *far) line() (line []byte, long, ok bool, err error) {
	if f.done {
		return nil, false, false, nil
	}
	for search := f.stop; ; {
		if i := bytes.LastIndexByte(f.window[f.start:search], '\n'); i >= 0 {
			i += f.start
			line, long = f.window[i+1:f.stop], f.long
			f.stop, f.long = i, false
			return line, long, true, nil
		}
		if f.pos == 0 {
			f.done = true
			return f.window[f.start:f.stop], f.long, true, nil
		}
		n := int(min(farBlock, f.pos, f.left))
		if n <= 0 {
			f.done, f.cut = true, true
			return nil, false, false, nil
		}
		if err := f.fill(n); err != nil {
			f.done = true
			return nil, false, false, err
		}
		search = f.start + n // the rest was searched before
	}
}

// fill puts the n bytes before pos in front of what is held.
func (f *far) fill(n int) error {
	if err := f.cancelled(); err != nil {
		return err
	}
	if f.window == nil {
		f.window = make([]byte, farWindow)
		f.start, f.stop = farWindow, farWindow
	}
	if f.start < n {
		if f.stop-f.start+n > farWindow {
			f.stop, f.long = f.start+farGlance, true
		}
		held := copy(f.window[farWindow-(f.stop-f.start):], f.window[f.start:f.stop])
		f.start, f.stop = farWindow-held, farWindow
	}
	got, err := f.r.ReadAt(f.window[f.start-n:f.start], f.pos-int64(n))
	if got < n {
		return short(err)
	}
	f.start -= n
	f.pos -= int64(n)
	f.left -= int64(n)
	return nil
}

// readFar searches the records before those of the tail for the beginning of the turn. Results of tools are skipped by
// their first bytes. What is kept of the others is bounded by Options.MaxBytes, as it is of those behind them.
func (s *Session) readFar() error {
	end := s.tail.rest
	lines := &far{r: s.tail.r, pos: end, left: s.options.SearchBytes, cancelled: s.tail.cancelled}
	defer func() { s.searched, s.cut = end-lines.pos, !s.found && (!lines.done || lines.cut) }()
	for room := s.options.MaxBytes; room > 0; {
		line, long, ok, err := lines.line()
		if err != nil || !ok {
			return err
		}
		if len(line) > farGlance && silent(line[:farGlance]) {
			continue
		}
		if long {
			return nil // who speaks in it, and what, cannot be said
		}
		e := parseRecord(line, s.options.Subagent)
		if e.kind == result {
			continue
		}
		known := len(s.entries)
		if s.take(e) {
			return nil
		}
		for _, e := range s.entries[known:] {
			room -= e.size()
		}
	}
	return nil
}

// size is about how much memory an entry takes.
func (e entry) size() int64 {
	n := 256 + len(e.id)
	for _, s := range e.texts {
		n += len(s) + 16
	}
	for _, s := range e.tools {
		n += len(s) + 16
	}
	return int64(n)
}

// silent reports whether the beginning of a record shows that neither the user nor the agent speaks in it, since it is
// what a tool gave back or a note of the host. If it cannot be seen, they may.
func silent(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	var r record
	c := jsontext.Value(head).Members()
	for c.Next() {
		r.set(c.Key, c.Value)
	}
	switch string(c.Key) { // where the beginning ends
	case "message", "content", "payload", "toolUseResult":
		if c.Torn != nil {
			r.set(c.Key, c.Torn)
		}
	}
	switch r.typ {
	case "tool_result", "tool.execution_complete", "progress", "event_msg":
		return true
	case "response_item":
		return strings.HasSuffix(begun(r.payload.Members(), "type").Text(), "_call_output")
	case "user":
		return r.toolUseResult.There() || r.message.HasToken(`"tool_result"`) ||
			r.message == nil && begun(begun(r.content.Elements(), "").Members(), "functionResponse").There()
	}
	return false
}

// begun is the value of the first member with that name, or of a list the first element: the beginning of it, if its end
// is not there; nil if there is none.
func begun(c jsontext.Cursor, name string) jsontext.Value {
	for c.Next() {
		if string(c.Key) == name {
			return c.Value
		}
	}
	if string(c.Key) == name {
		return c.Torn
	}
	return nil
}
