package looptest

import (
	"context"
	"slices"
	"sync"

	"github.com/ralph-sdk/ralph/loop"
)

// Records is a [loop.Recorder] in memory. The zero Records is empty.
type Records struct {
	mu  sync.Mutex
	all []*loop.Record
}

// Record keeps r.
func (rs *Records) Record(_ context.Context, r *loop.Record) error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.all = append(rs.all, r)
	return nil
}

// All returns the records so far, oldest first.
func (rs *Records) All() []*loop.Record {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return slices.Clone(rs.all)
}
