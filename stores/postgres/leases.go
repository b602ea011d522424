package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// A lease that is not renewed ends after term, by the clock of the server: its process is gone.
const term = 30 * time.Second

func leaseKey(name string) []byte { return hash("lease", name) }

// Hold takes a lease until release is called or this process ends. If another owner has it, release is nil and holder is
// that owner. A process that does not reach the server for a whole term has lost the lease, too.
func (s *Store) Hold(ctx context.Context, name, owner string) (release func(), holder string, err error) {
	key := leaseKey(name)
	var has []byte
	var token *string
	// Either the lease is free and taken, or it is read as it is after a wait for who else is taking it.
	err = s.pool.QueryRow(ctx, `
		INSERT INTO ralph_lease AS l VALUES ($1, $2, pg_current_xact_id()::text, now() + $3::interval)
		ON CONFLICT (key) DO UPDATE SET
			owner = CASE WHEN l.ends < now() THEN excluded.owner ELSE l.owner END,
			token = CASE WHEN l.ends < now() THEN excluded.token ELSE l.token END,
			ends = CASE WHEN l.ends < now() THEN excluded.ends ELSE l.ends END
		RETURNING owner, CASE WHEN token = pg_current_xact_id()::text THEN token END`, key, []byte(owner), s.term).Scan(&has, &token)
	if err != nil {
		return nil, "", s.fail("take a lease", err)
	}
	if token == nil {
		return nil, string(has), nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { s.renew(ctx, key, *token) })
	return sync.OnceFunc(func() {
		cancel()
		all.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), s.term/3)
		defer cancel()
		_, _ = s.pool.Exec(ctx, `DELETE FROM ralph_lease WHERE key = $1 AND token = $2`, key, *token) // otherwise it ends by itself
	}), "", nil
}

// renew renews a lease until its context is done or it is lost. What fails is tried again.
func (s *Store) renew(ctx context.Context, key []byte, token string) {
	tick := time.NewTicker(s.term / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			tag, err := s.pool.Exec(ctx, `UPDATE ralph_lease SET ends = now() + $3::interval WHERE key = $1 AND token = $2 AND ends >= now()`, key, token, s.term)
			if err == nil && tag.RowsAffected() == 0 {
				return
			}
		}
	}
}

// Holder returns the owner of a lease, "" if it is free.
func (s *Store) Holder(ctx context.Context, name string) (owner string, err error) {
	var has []byte
	err = s.pool.QueryRow(ctx, `SELECT owner FROM ralph_lease WHERE key = $1 AND ends >= now()`, leaseKey(name)).Scan(&has)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return string(has), s.fail("read a lease", err)
}
