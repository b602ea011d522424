package process

import (
	"fmt"
	"io"
	"sync"
)

// defaultLimit is the limit of a command that names none.
const defaultLimit = 1 << 20

// kept keeps the beginning and the end of what is written to it.
type kept struct {
	limit      int
	copy       io.Writer // if not nil, gets all until its first error
	begin, end []byte
	left       int // bytes between them that are gone
}

func (k *kept) write(b []byte) {
	n := min(len(b), k.limit/2-len(k.begin))
	k.begin = append(k.begin, b[:n]...)
	k.end = append(k.end, b[n:]...)
	if len(k.end) > 2*k.limit { // seldom, so that bytes are moved seldom
		k.drop()
	}
	if k.copy == nil {
		return
	}
	if _, err := k.copy.Write(b); err != nil {
		k.copy = nil
	}
}

// drop forgets what does not fit.
func (k *kept) drop() {
	if over := len(k.begin) + len(k.end) - k.limit; over > 0 {
		k.left += over
		k.end = k.end[:copy(k.end, k.end[over:])]
	}
}

// bytes returns what is kept, with a line that says how much is not.
func (k *kept) bytes() []byte {
	k.drop()
	if k.left > 0 {
		k.begin = fmt.Appendf(k.begin, "\n[%d bytes left out]\n", k.left)
	}
	return append(k.begin, k.end...)
}

// output is what a program writes.
type output struct {
	mu                   sync.Mutex
	stdout, stderr, both kept
	closed               bool
}

func newOutput(limit int, stdout, both io.Writer) *output {
	if limit <= 0 {
		limit = defaultLimit
	}
	return &output{stdout: kept{limit: limit, copy: stdout}, stderr: kept{limit: limit}, both: kept{limit: limit, copy: both}}
}

// stream is one stream of an output.
type stream struct {
	out  *output
	kept *kept
}

// Write accepts everything: a program would end, or block, at a pipe that is not read.
func (s *stream) Write(b []byte) (int, error) {
	o := s.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return len(b), nil
	}
	s.kept.write(b)
	o.both.write(b)
	return len(b), nil
}

// close ends the output and returns it.
func (o *output) close() Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	return Result{Stdout: o.stdout.bytes(), Stderr: o.stderr.bytes(), Output: o.both.bytes()}
}
