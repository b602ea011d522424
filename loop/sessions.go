package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// sessions makes decisions of one session wait for each other, in the order in which they came: a thousand simultaneous
// events of a session must not conflict a thousand times. All loops of the process with one store share it.
var sessions struct {
	sync.Mutex
	busy map[sessionKey][]chan struct{} // of each session with a decision under way, those that wait; one gets its turn when its channel closes
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
	k := d.gatherer.sessionKey()
	turn := k.queue()
	if turn == nil {
		d.entered = true
		return nil
	}
	conflict := fmt.Errorf("other events of the session are decided, so its memory %w", ErrConflict)
	d.bound.waits.Store(&wait{why: conflict})
	select {
	case <-turn:
		d.entered = true
		d.bound.waits.Store(nil)
		return nil
	case <-ctx.Done():
		k.leave(turn)
		return fmt.Errorf("%w: %w", conflict, interrupted(ctx))
	}
}

// free lets the next decision of the session begin.
func (d *Decision) free() {
	if d.entered {
		d.entered = false
		d.gatherer.sessionKey().next()
	}
}

// queue returns nil if no decision of the session is under way, otherwise what to wait for.
func (k sessionKey) queue() chan struct{} {
	sessions.Lock()
	defer sessions.Unlock()
	waiting, busy := sessions.busy[k]
	if !busy {
		if sessions.busy == nil {
			sessions.busy = map[sessionKey][]chan struct{}{}
		}
		sessions.busy[k] = nil
		return nil
	}
	turn := make(chan struct{})
	sessions.busy[k] = append(waiting, turn)
	return turn
}

// leave is for a decision that no longer waits for its turn, which may have come.
func (k sessionKey) leave(turn chan struct{}) {
	sessions.Lock()
	i := slices.Index(sessions.busy[k], turn)
	if i >= 0 {
		sessions.busy[k] = slices.Delete(sessions.busy[k], i, i+1)
	}
	sessions.Unlock()
	if i < 0 {
		k.next()
	}
}

// next ends the turn of a decision.
func (k sessionKey) next() {
	sessions.Lock()
	defer sessions.Unlock()
	waiting := sessions.busy[k]
	if len(waiting) == 0 {
		delete(sessions.busy, k)
		return
	}
	close(waiting[0])
	sessions.busy[k] = waiting[1:]
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
