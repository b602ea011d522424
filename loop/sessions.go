package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// sessions lets the decisions of one session through one after the other, in the order in
// which they came. So a thousand events of a session at once are decided a thousand times.
type sessions struct {
	mu   sync.Mutex
	busy map[Key]*session
}

type session struct {
	turn chan struct{} // holds one: a decision is made
	here int           // decisions that are made or wait
}

// enter waits until no other decision of the session is made. leave must be called.
func (s *sessions) enter(ctx context.Context, key Key) (leave func(), err error) {
	s.mu.Lock()
	at := s.busy[key]
	if at == nil {
		at = &session{turn: make(chan struct{}, 1)}
		if s.busy == nil {
			s.busy = map[Key]*session{}
		}
		s.busy[key] = at
	}
	at.here++
	s.mu.Unlock()
	gone := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if at.here--; at.here == 0 {
			delete(s.busy, key)
		}
	}
	leave = func() { <-at.turn; gone() }
	select {
	case at.turn <- struct{}{}:
		return leave, nil
	default:
	}
	select {
	case at.turn <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		gone()
		return nil, fmt.Errorf("other events of the session are decided, so its memory %w: %w", ErrConflict, interrupted(ctx))
	}
}

// enter makes other decisions of the session wait for this one, unless they do so already.
func (d *Decision) enter(ctx context.Context) (err error) {
	if d.leave == nil {
		d.leave, err = d.loop.sessions.enter(ctx, d.gatherer.mem.keys[0])
	}
	return err
}

// free ends what enter began.
func (d *Decision) free() {
	if d.leave != nil {
		d.leave()
		d.leave = nil
	}
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
