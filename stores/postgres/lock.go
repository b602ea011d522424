package postgres

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/loop"
)

// Lock takes advisory locks of the entries, whether these exist or not, on a connection that stays with the lock. Each Save
// takes them, too, so that others wait in the order in which they come. They belong to the connection, not to a transaction:
// what the held store has saved is committed when its Save returns.
//
// The lock ends with unlock or with ctx. If the process is frozen or its machine is gone, the server ends the connection,
// and with it the lock, a second after the deadline of ctx, or after a minute without one. From then on the store that
// Lock returned saves like any other.
func (s *Store) Lock(ctx context.Context, keys ...loop.Key) (loop.Store, func(), error) {
	names := make([][]byte, len(keys))
	for i, key := range keys {
		names[i] = entryKey(key)
	}
	idle := maxIdle
	if deadline, ok := ctx.Deadline(); ok {
		idle = max(time.Until(deadline), 0) + time.Second
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, s.fail("lock", err)
	}
	h := &held{Store: s, conn: conn, locks: locksOf(names)}
	_, err = conn.Exec(ctx, `SELECT set_config('idle_session_timeout', $1::bigint::text, false), (SELECT count(pg_advisory_lock(k)) FROM unnest($2::bigint[]) AS k)`,
		idle.Milliseconds(), h.locks)
	if err != nil {
		h.end(ctx)
		return nil, nil, s.fail("lock", err)
	}
	stop := context.AfterFunc(ctx, func() { h.end(ctx) })
	return h, func() { stop(); h.end(ctx) }, nil
}

// maxIdle bounds a lock whose context has no deadline.
const maxIdle = time.Minute

// held is the store of one who has a lock.
type held struct {
	*Store
	mu    sync.Mutex    // a connection serves one at a time
	conn  *pgxpool.Conn // nil once the lock has ended
	locks []int64
}

func (h *held) Load(ctx context.Context, keys ...loop.Key) (entries []loop.Entry, err error) {
	err = h.do(func() error {
		if h.conn == nil {
			entries, err = h.Store.Load(ctx, keys...)
			return err
		}
		entries, err = load(ctx, h.conn, keys)
		return h.fail("load what was counted", err)
	})
	return entries, err
}

func (h *held) Save(ctx context.Context, w loop.Write) error {
	return h.do(func() error {
		if h.conn == nil {
			return h.Store.Save(ctx, w)
		}
		return h.fail("save what was counted", save(ctx, h.conn, w))
	})
}

// do calls f. If it has broken the connection, the lock has ended.
func (h *held) do(f func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := f()
	if h.conn != nil && h.conn.Conn().IsClosed() {
		h.conn.Release()
		h.conn = nil
	}
	return err
}

// end ends the lock. If the server does not confirm it, the connection is closed, which ends it, too.
func (h *held) end(ctx context.Context) {
	_ = h.do(func() error {
		if h.conn == nil {
			return nil
		}
		var list []string
		for _, l := range h.locks {
			list = append(list, strconv.FormatInt(l, 10))
		}
		_, err := h.conn.Exec(ctx, `SELECT pg_advisory_unlock(k) FROM unnest('{`+strings.Join(list, ",")+`}'::bigint[]) AS k; RESET idle_session_timeout`)
		if err != nil {
			_ = h.conn.Conn().Close(ctx)
		}
		h.conn.Release()
		h.conn = nil
		return nil
	})
}
