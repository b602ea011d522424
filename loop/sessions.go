package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// sessions lets the decisions of one session through one after the other, in the order in
// which they came: a thousand events of a session at once are decided a thousand times.
// All loops of the process with one store share them.
var sessions struct {
	mu   sync.Mutex
	busy map[sessionKey][]chan struct{} // in which a decision is made, with those that wait; each is closed when it is its turn
}

type sessionKey struct {
	store any // what loops have in common that share it
	key   Key
}

func (g *gatherer) sessionKey() sessionKey {
	if g.loop.comparable {
		return sessionKey{g.loop.store, g.mem.keys[0]}
	}
	return sessionKey{g.loop, g.mem.keys[0]}
}

// enter makes other decisions of the session wait for this one, unless they do so already.
func (d *Decision) enter(ctx context.Context) error {
	if d.entered {
		return nil
	}
	s, key := &sessions, d.gatherer.sessionKey()
	s.mu.Lock()
	waiting, busy := s.busy[key]
	if s.busy == nil {
		s.busy = map[sessionKey][]chan struct{}{}
	}
	if d.entered = !busy; d.entered {
		s.busy[key] = nil
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	s.busy[key] = append(waiting, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		d.entered = true
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.busy[key], turn)
	if d.entered = i < 0; !d.entered {
		s.busy[key] = slices.Delete(s.busy[key], i, i+1)
	}
	return fmt.Errorf("other events of the session are decided, so its memory %w: %w", ErrConflict, interrupted(ctx))
}

// free lets the next decision of the session begin.
func (d *Decision) free() {
	if !d.entered {
		return
	}
	d.entered = false
	s, key := &sessions, d.gatherer.sessionKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := s.busy[key]; len(waiting) > 0 {
		close(waiting[0])
		s.busy[key] = waiting[1:]
		return
	}
	delete(s.busy, key)
}

// maxPause bounds how long a decision waits before it is made again.
const maxPause = 256 * time.Millisecond

// pause waits before a decision is made again for the n-th time: longer each time, and by
// chance, so that many processes that change one memory do not meet again.
func pause(ctx context.Context, n int) {
	t := time.NewTimer(rand.N(min(time.Millisecond<<min(n, 20), maxPause)))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
