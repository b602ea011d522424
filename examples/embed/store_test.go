package embed_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
)

// table is a store of your own: a row for each key, with a lock of its own, as a table of a database has.
type table struct {
	mu   sync.Mutex
	rows map[string]*row
}

type row struct {
	held     chan struct{} // of capacity 1
	document []byte        // nil: none
}

// row returns the row of a key, and makes it if there is none.
func (t *table) row(key string) *row {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[key] == nil {
		t.rows[key] = &row{held: make(chan struct{}, 1)}
	}
	return t.rows[key]
}

// Update holds the row while change runs, and waits for it no longer than ctx allows.
func (t *table) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if ctx.Err() != nil { // select would choose either of two that are ready
		return context.Cause(ctx)
	}
	r := t.row(key)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case r.held <- struct{}{}:
	}
	defer func() { <-r.held }()
	t.mu.Lock()
	old := r.document
	t.mu.Unlock()
	b, err := change(slices.Clone(old))
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.document = slices.Clone(b); len(b) == 0 {
		r.document = nil
	}
	return nil
}

func (t *table) Load(ctx context.Context, key string) ([]byte, error) {
	r := t.row(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(r.document), ctx.Err()
}

func (t *table) Keys(ctx context.Context, prefix string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	keys := slices.Sorted(maps.Keys(t.rows))
	return slices.DeleteFunc(keys, func(key string) bool {
		return !strings.HasPrefix(key, prefix) || len(t.rows[key].document) == 0
	}), ctx.Err()
}

// looptest checks what a store promises: run it for your own.
func TestStore(t *testing.T) {
	looptest.Store(t, func(*testing.T) loop.Store { return &table{rows: map[string]*row{}} })
}
