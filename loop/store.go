package loop

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Store keeps documents by key. Keys are any texts. looptest.Store checks what it promises. It is safe for concurrent use.
//
// Ralph's keys are @SCOPE/KIND/NAME, without the scope if there is none; a slash in a part is written %2F. A store may remove documents of
// kind session that were not changed for 30 days.
type Store interface {
	// Load returns a document, or nil if there is none.
	Load(ctx context.Context, key string) ([]byte, error)
	// Update calls change once with a document and keeps what it returns. It is atomic and serialized by key: no other Update of the key
	// begins until it has ended, in any process. The same bytes write nothing, empty ones remove the document, and an error of change
	// leaves it as it is and is wrapped. Waiting ends with ctx. Within change, other keys may be used.
	Update(ctx context.Context, key string, change func(old []byte) (new []byte, err error)) error
	// Keys lists the keys of documents that begin with a prefix, sorted.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// Map returns a store in memory.
func Map() Store { return &memory{} }

type memory struct{ all sync.Map } // *entry by key; a key that was used once stays

type entry struct {
	held  chan struct{} // of capacity 1
	bytes atomic.Value  // []byte
}

func (m *memory) entry(key string) *entry {
	e, ok := m.all.Load(key)
	if !ok {
		e, _ = m.all.LoadOrStore(key, &entry{held: make(chan struct{}, 1)})
	}
	return e.(*entry)
}

func (m *memory) Load(ctx context.Context, key string) ([]byte, error) {
	b, _ := m.entry(key).bytes.Load().([]byte)
	return bytes.Clone(b), context.Cause(ctx)
}

func (m *memory) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	e := m.entry(key)
	select {
	case e.held <- struct{}{}:
		defer func() { <-e.held }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	old, err := m.Load(ctx, key)
	if err != nil {
		return err
	}
	b, err := change(old)
	if err == nil {
		e.bytes.Store(append([]byte(nil), b...)) // nil if there are none
	}
	return err
}

func (m *memory) Keys(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	m.all.Range(func(key, e any) bool {
		if b, _ := e.(*entry).bytes.Load().([]byte); len(b) > 0 && strings.HasPrefix(key.(string), prefix) {
			keys = append(keys, key.(string))
		}
		return true
	})
	slices.Sort(keys)
	return keys, context.Cause(ctx)
}
