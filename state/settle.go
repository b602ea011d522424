package state

import (
	"context"
	"time"
)

// A file that has no document yet may be half written: it is read again at this interval, while it is young and for a
// limited time in all.
const (
	youngAge   = 2 * time.Second
	settleTime = time.Second
	settlePoll = 20 * time.Millisecond
)

// settling waits for files that are being written.
type settling struct {
	clock, began time.Time // when it started: by the clock of files, and by that of this process
}

// newSettling returns a settling that starts now; a nil now is time.Now.
func newSettling(now func() time.Time) settling {
	if now == nil {
		now = time.Now
	}
	return settling{now(), time.Now()}
}

// again waits and reports true if a document is to be read again.
func (s settling) again(ctx context.Context, doc Doc) bool {
	waited := time.Since(s.began)
	age := max(s.clock.Add(waited).Sub(doc.ModTime), 0)
	if doc.Status == OK || doc.Version == "" || waited >= settleTime || age >= youngAge {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(min(settlePoll, settleTime-waited)):
		return true
	}
}
