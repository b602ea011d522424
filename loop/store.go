package loop

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
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
func Map() Store { return &memory{documents: map[string][]byte{}} }

type memory struct {
	mu        sync.Mutex
	documents map[string][]byte
	held      sync.Map // a channel of capacity 1 for each key that was ever used
}

func (m *memory) Load(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.documents[key]), nil
}

func (m *memory) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	v, _ := m.held.LoadOrStore(key, make(chan struct{}, 1))
	held := v.(chan struct{})
	select {
	case held <- struct{}{}:
		defer func() { <-held }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	old, err := m.Load(ctx, key)
	if err != nil {
		return err
	}
	b, err := change(old)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(b) == 0 {
		delete(m.documents, key)
	} else {
		m.documents[key] = bytes.Clone(b)
	}
	return nil
}

func (m *memory) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for k := range m.documents {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys, nil
}
