package state

import (
	"context"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// A file that cannot be used yet may be half written: it is read again at this interval, while it is young and for a
// limited time in all.
const (
	youngAge   = 2 * time.Second
	settleTime = time.Second
	settlePoll = 20 * time.Millisecond
)

// settling waits for files that are being written.
type settling struct {
	schema       *schema.Schema
	clock, began time.Time // when it started: by the clock of files, and by that of this process
}

// newSettling returns a settling that starts now.
func newSettling(f File) settling {
	now := f.Now
	if now == nil {
		now = time.Now
	}
	return settling{f.Schema, now(), time.Now()}
}

// again waits and reports true if a document is to be read again.
func (s settling) again(ctx context.Context, doc Doc) bool {
	waited := time.Since(s.began)
	age := s.clock.Add(waited).Sub(doc.ModTime).Abs() // clocks differ a little; a file far in the future is not being written
	if doc.Version == "" || waited >= settleTime || age >= youngAge || s.usable(doc) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(min(settlePoll, settleTime-waited)):
		return true
	}
}

// usable reports whether a document has no value that policies cannot read.
func (s settling) usable(doc Doc) bool {
	if doc.Status != OK || len(doc.Unusable) > 0 {
		return false
	}
	return s.schema == nil || doc.Document.Value == nil || len(s.schema.Check(doc.Document).Unusable) == 0
}
