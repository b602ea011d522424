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

// table is a store of your own: documents by key, and a lock for each key, as a table of a database has.
type table struct {
	mu        sync.Mutex
	documents map[string][]byte
	locks     map[string]chan struct{} // of capacity 1
}

func (t *table) lock(key string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.locks[key] == nil {
		t.locks[key] = make(chan struct{}, 1)
	}
	return t.locks[key]
}

// Update holds the lock while change runs, and waits for it no longer than ctx allows.
func (t *table) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	held := t.lock(key)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case held <- struct{}{}:
	}
	defer func() { <-held }()
	old, err := t.Load(ctx, key)
	if err != nil {
		return err
	}
	b, err := change(old)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.documents[key] = slices.Clone(b); len(b) == 0 {
		delete(t.documents, key)
	}
	return nil
}

func (t *table) Load(ctx context.Context, key string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.documents[key]), context.Cause(ctx)
}

func (t *table) Keys(ctx context.Context, prefix string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	other := func(key string) bool { return !strings.HasPrefix(key, prefix) }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.documents)), other), context.Cause(ctx)
}

// looptest checks what a store promises: run it for your own.
func TestStore(t *testing.T) {
	looptest.Store(t, func(*testing.T) loop.Store {
		return &table{documents: map[string][]byte{}, locks: map[string]chan struct{}{}}
	})
}
