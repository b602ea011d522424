package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// sessions lets the decisions of one session through one after the other, in the order in
// which they came: a thousand events of a session at once are decided a thousand times.
// All loops of the process with one store share them.
var sessions struct {
	sync.Mutex
	busy map[sessionKey]*session
}

// session is one of which a decision is made.
type session struct {
	turn  chan struct{} // holds one: a decision is made
	users int           // decisions that are made or wait
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
	s := d.gatherer.sessionKey().use(1)
	select {
	case s.turn <- struct{}{}:
		d.entered = true
	default:
		select {
		case s.turn <- struct{}{}:
			d.entered = true
		case <-ctx.Done():
			d.gatherer.sessionKey().use(-1)
			return fmt.Errorf("other events of the session are decided, so its memory %w: %w", ErrConflict, interrupted(ctx))
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

// use counts the decisions of a session.
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
