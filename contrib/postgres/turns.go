package postgres

import (
	"context"
	"sync"
)

// turns lets the goroutines of this process come to a key one after the other. So a process waits for a key with one connection, and the
// server, which serves those that wait in their order, lets processes take turns.
type turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

type turn struct {
	held  chan struct{} // of capacity 1
	users int
}

// take waits for a key until ctx is done.
func (t *turns) take(ctx context.Context, key string) (leave func(), err error) {
	t.mu.Lock()
	k := t.keys[key]
	if k == nil {
		k = &turn{held: make(chan struct{}, 1)}
		t.keys[key] = k
	}
	k.users++
	t.mu.Unlock()
	done := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(t.keys, key)
		}
	}
	if ctx.Err() == nil {
		select {
		case k.held <- struct{}{}:
			return func() { <-k.held; done() }, nil
		case <-ctx.Done():
		}
	}
	done()
	return nil, ctx.Err()
}
