package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// sessions makes decisions of one session wait for each other, in the order in which they came: a thousand simultaneous
// events of a session must not conflict a thousand times. All loops of the process with one store share it.
var sessions struct {
	sync.Mutex
	busy map[sessionKey]*session
}

// session is a session with decisions under way.
type session struct {
	turn  chan struct{} // has one element: the lock
	users int           // decisions under way or waiting
}

type sessionKey struct {
	store any // the store that the loops share
	key   Key
}

func (g *gatherer) sessionKey() sessionKey {
	if g.loop.kept.comparable {
		return sessionKey{g.loop.kept.store, g.mem.keys[0]}
	}
	return sessionKey{g.loop, g.mem.keys[0]}
}

// enter makes other decisions of the session wait for this one, unless they already do.
func (d *Decision) enter(ctx context.Context) error {
	if d.entered {
		return nil
	}
	s := d.gatherer.sessionKey().use(1)
	select {
	case s.turn <- struct{}{}:
		d.entered = true
	default:
		conflict := fmt.Errorf("other events of the session are decided, so its memory %w", ErrConflict)
		d.bound.waits.Store(&wait{why: conflict})
		select {
		case s.turn <- struct{}{}:
			d.entered = true
			d.bound.waits.Store(nil)
		case <-ctx.Done():
			d.gatherer.sessionKey().use(-1)
			return fmt.Errorf("%w: %w", conflict, interrupted(ctx))
		}
	}
	return nil
}

// free lets the next decision of the session begin.
func (d *Decision) free() {
	if d.entered {
		d.entered = false
		<-d.gatherer.sessionKey().use(-1).turn
	}
}

// use changes the number of the session's decisions.
func (k sessionKey) use(more int) *session {
	sessions.Lock()
	defer sessions.Unlock()
	if sessions.busy == nil {
		sessions.busy = map[sessionKey]*session{}
	}
	s := sessions.busy[k]
	if s == nil {
		s = &session{turn: make(chan struct{}, 1)}
		sessions.busy[k] = s
	}
	if s.users += more; s.users == 0 {
		delete(sessions.busy, k)
	}
	return s
}

// maxPause bounds the delay before a decision is made again.
const maxPause = 256 * time.Millisecond

// pause waits before retry n of a decision: longer each time, and for a random time, so that processes that change one
// memory do not collide again.
func pause(ctx context.Context, n int) {
	t := time.NewTimer(rand.N(min(time.Millisecond<<min(n, 20), maxPause)))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
