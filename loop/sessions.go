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
	idle []*session // for another key
}

type session struct {
	turn chan struct{} // holds one: a decision is made
	here int           // decisions that are made or wait
}

// at returns the session of a key, in which one decision more or less is.
func (s *sessions) at(key Key, more int) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.busy[key]
	if n := len(s.idle); at == nil && n > 0 {
		at, s.idle = s.idle[n-1], s.idle[:n-1]
	} else if at == nil {
		at = &session{turn: make(chan struct{}, 1)}
	}
	if at.here += more; at.here == 0 {
		delete(s.busy, key)
		s.idle = append(s.idle, at)
		return at
	}
	if s.busy == nil {
		s.busy = map[Key]*session{}
	}
	s.busy[key] = at
	return at
}

// enter makes other decisions of the session wait for this one, unless they do so already.
func (d *Decision) enter(ctx context.Context) error {
	if d.session != nil {
		return nil
	}
	all, key := &d.loop.sessions, d.gatherer.mem.keys[0]
	at := all.at(key, +1)
	select {
	case at.turn <- struct{}{}:
		d.session = at
		return nil
	default:
	}
	select {
	case at.turn <- struct{}{}:
		d.session = at
		return nil
	case <-ctx.Done():
		all.at(key, -1)
		return fmt.Errorf("other events of the session are decided, so its memory %w: %w", ErrConflict, interrupted(ctx))
	}
}

// free lets the next decision of the session begin.
func (d *Decision) free() {
	if d.session != nil {
		<-d.session.turn
		d.loop.sessions.at(d.gatherer.mem.keys[0], -1)
		d.session = nil
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
