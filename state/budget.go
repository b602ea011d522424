package state

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// A Budget bounds what the Roots that share it read in all, see [Root.SetBudget]: how
// much memory files and the values of their documents take, and how long it takes to walk
// through directories and to read from disks that may hang. A file that does not fit is missing; a smaller one may still fit.
// It is safe for concurrent use.
type Budget struct {
	allBytes    int64
	allTime     time.Duration
	bytes, time atomic.Int64 // left
	late        atomic.Bool
}

// NewBudget returns a budget of so many bytes and so much time. A value of a document counts as 64 bytes.
func NewBudget(bytes int64, time time.Duration) *Budget {
	b := &Budget{allBytes: bytes, allTime: time}
	b.bytes.Store(bytes)
	b.time.Store(int64(time))
	return b
}

// Late reports whether the time was over before all was read. What [Root.Exists],
// [Root.IsDir] and [Root.AnyFile] did not look at then is as if it were not there.
func (b *Budget) Late() bool { return b.late.Load() }

// take reports whether so many bytes may be kept.
func (b *Budget) take(bytes int64) bool {
	if b == nil || b.bytes.Add(-bytes) >= 0 {
		return true
	}
	b.bytes.Add(bytes)
	return false
}

func (b *Budget) giveBack(bytes int64) {
	if b != nil {
		b.bytes.Add(bytes)
	}
}

// spent says why a file was not read that does not fit.
func (b *Budget) spent() string {
	return fmt.Sprintf("was not read: the limit of %d MiB for all files together is reached", b.allBytes>>20)
}

const (
	perValue = 64           // bytes of memory that a value takes
	perItem  = 8 * perValue // for the fields of an item of a checklist
)

// jsonValues is the number of values of JSON that is not decoded yet: that of the commas
// and brackets outside of strings.
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

// lateError says which time was over, as the rest of a sentence.
type lateError string

func (e lateError) Error() string { return string(e) }

// within bounds ctx by timeout, 0 being 2 s, and by what is left of the time for all.
// Call done when the work is done.
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

// tooLate says why there was no time to read. ctx is one of within.
func tooLate(ctx context.Context) string {
	if why := lateError(""); errors.As(context.Cause(ctx), &why) {
		return string(why)
	}
	return "was not read: out of time"
}

// await returns what read returns, unless ctx ends before: a network disk may hang, and no
// read of it can be stopped. The goroutine is then left behind until the system lets
// it go. A local disk needs none, and a hook saves the switch to another thread.
func await[T any](ctx context.Context, local bool, read func() T) (got T, ok bool) {
	if local {
		return read(), true
	}
	done, panicked := make(chan T, 1), make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				panicked <- p // in the caller's goroutine it can be recovered from
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
