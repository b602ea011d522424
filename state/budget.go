package state

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// A Budget bounds what the Roots that share it read in total, see [Root.SetBudget]: the memory for files and the values
// of their documents, and the time for directories and slow disks. A file that does not fit is missing; a smaller one
// may still fit. It is for one decision: [ReadAll] and [Root.AnyFile] list a directory once, and see it as it was then.
// It is safe for concurrent use.
type Budget struct {
	allBytes    int64
	allTime     time.Duration
	bytes, time atomic.Int64 // remaining
	late        atomic.Bool
	listings    listings
}

// NewBudget returns a budget of memory and time. A value of a document counts as 64 bytes.
func NewBudget(bytes int64, time time.Duration) *Budget {
	b := &Budget{allBytes: bytes, allTime: time}
	b.bytes.Store(bytes)
	b.time.Store(int64(time))
	return b
}

// Late reports whether the time was over before everything was read. [Root.Exists], [Root.IsDir] and [Root.AnyFile]
// treat the rest as missing.
func (b *Budget) Late() bool { return b.late.Load() }

// take reports whether the budget has this many bytes left, and takes them.
func (b *Budget) take(bytes int64) bool {
	if b == nil || b.bytes.Add(-bytes) >= 0 {
		return true
	}
	b.bytes.Add(bytes)
	return false
}

// known returns the directories that were listed.
func (b *Budget) known() *listings {
	if b == nil {
		return nil
	}
	return &b.listings
}

func (b *Budget) giveBack(bytes int64) {
	if b != nil {
		b.bytes.Add(bytes)
	}
}

// spent returns why a file that does not fit was not read.
func (b *Budget) spent() string {
	return fmt.Sprintf("was not read: the limit of %d MiB for all files together is reached", b.allBytes>>20)
}

const (
	perValue = 64           // bytes of memory for a value
	perItem  = 8 * perValue // for the fields of an item of a checklist
)

// jsonValues returns the number of values in encoded JSON, by counting commas and brackets outside of strings.
func jsonValues(src jsontext.Value) (n int64) {
	src.Structure(func(start, _ int) bool {
		switch src[start] {
		case ',', '[', '{':
			n++
		}
		return true
	})
	return n
}

// lateError is which time limit was exceeded, to complete a sentence.
type lateError string

func (e lateError) Error() string { return string(e) }

// within returns ctx limited by timeout, 0 being 2 s, and by the remaining time. Call done when the work is done.
func (b *Budget) within(ctx context.Context, timeout time.Duration) (_ context.Context, done func()) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	why := lateError("took longer than " + timeout.String() + " to read")
	if b == nil {
		return context.WithTimeoutCause(ctx, timeout, why)
	}
	left := time.Duration(b.time.Load())
	all := left < timeout
	if all {
		timeout, why = left, lateError("was not read: the limit of "+b.allTime.String()+" for reading all files is reached")
	}
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, why)
	return ctx, func() {
		if all && context.Cause(ctx) == why {
			b.late.Store(true)
		}
		cancel()
		b.time.Add(-int64(time.Since(began)))
	}
}

// tooLate returns which time was exceeded. ctx is from within.
func tooLate(ctx context.Context) string {
	if why := lateError(""); errors.As(context.Cause(ctx), &why) {
		return string(why)
	}
	return "was not read: out of time"
}

// await returns the result of read, unless ctx ends first: a network disk may block, and a blocked read cannot be
// stopped. Its goroutine then stays until the system call returns. A local disk needs none, which saves a hook the
// switch to another thread.
func await[T any](ctx context.Context, local bool, read func() T) (got T, ok bool) {
	if local {
		return read(), true
	}
	done, panicked := make(chan T, 1), make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				panicked <- p // recoverable in the caller's goroutine
			}
		}()
		done <- read()
	}()
	select {
	case got = <-done:
		return got, true
	case p := <-panicked:
		panic(p)
	case <-ctx.Done():
		return got, false
	}
}
