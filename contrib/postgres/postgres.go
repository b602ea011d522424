package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/loop"
)

// Tables is the SQL that makes the tables, for programs that make theirs themselves; [Open] runs it if they are missing.
const Tables = `
CREATE TABLE IF NOT EXISTS ralph_documents (
	key      bytea PRIMARY KEY, -- any bytes, which a text may not have
	document bytea NOT NULL,
	changed  timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS ralph_records (
	id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at     timestamptz NOT NULL,
	record jsonb NOT NULL
);
CREATE INDEX IF NOT EXISTS ralph_records_session ON ralph_records USING hash ((record->>'session'));`

// Store keeps documents in the table ralph_documents. Open makes one. It is safe for concurrent use.
//
// Each Update takes a connection of the pool, and what its change asks of the store takes a second one for a moment. An Update that
// lasts, such as that of [loop.Loop.Hold] for a run, keeps its connection: the pool needs one for each run, and two more.
type Store struct {
	pool  *pgxpool.Pool
	name  string
	turns turns
	slots chan struct{} // of Updates: one connection stays free for what their changes ask
}

var _ loop.Store = (*Store)(nil)

// Open returns the store in a database, in the schema that connections of the pool find first. The tables are made if they are missing.
// Documents of sessions that were not changed for 30 days are removed. The pool stays the caller's to close.
func Open(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	c := pool.Config()
	s := &Store{pool: pool, name: fmt.Sprintf("PostgreSQL, database %s at %s", c.ConnConfig.Database, c.ConnConfig.Host), turns: turns{keys: map[string]*turn{}}}
	if c.MaxConns < 2 {
		return nil, s.failed(ctx, errors.New("the pool needs 2 connections at least: set pool_max_conns"))
	}
	s.slots = make(chan struct{}, c.MaxConns-1)
	err := s.again(ctx, func() error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return prepare(ctx, tx) })
	})
	return s, s.failed(ctx, err)
}

// prepare makes the tables, by one process at a time, and forgets sessions.
func prepare(ctx context.Context, tx pgx.Tx) error {
	var ready bool
	if err := tx.QueryRow(ctx, `SELECT to_regclass('ralph_documents') IS NOT NULL AND to_regclass('ralph_records') IS NOT NULL`).Scan(&ready); err != nil {
		return err
	}
	if !ready {
		if _, err := tx.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d);", lockOf(""))+Tables); err != nil {
			return err
		}
	}
	// Bytes that are not ASCII are escaped, and a slash in a part of a key is, too.
	_, err := tx.Exec(ctx, `DELETE FROM ralph_documents WHERE changed < now() - interval '30 days' AND encode(key, 'escape') ~ '^(@[^/]*/)?session/'`)
	return err
}

// Load returns a document, or nil if there is none.
func (s *Store) Load(ctx context.Context, key string) (b []byte, err error) {
	err = s.again(ctx, func() error {
		return s.pool.QueryRow(ctx, loadSQL, []byte(key)).Scan(&b)
	})
	return b, s.failed(ctx, err)
}

const loadSQL = `SELECT (SELECT document FROM ralph_documents WHERE key = $1)`

// Keys lists the keys of documents that begin with a prefix, sorted.
func (s *Store) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = s.again(ctx, func() error {
		rows, err := s.pool.Query(ctx, `SELECT key FROM ralph_documents WHERE key >= $1 AND ($2::bytea IS NULL OR key < $2) ORDER BY key`, []byte(prefix), beyond(prefix))
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (key string, err error) {
			var b []byte
			err = row.Scan(&b)
			return string(b), err
		})
		return err
	})
	return keys, s.failed(ctx, err)
}

// beyond returns the first key after all that begin with a prefix, or nil if there is none.
func beyond(prefix string) []byte {
	for b := []byte(prefix); len(b) > 0; b = b[:len(b)-1] {
		if b[len(b)-1] < 0xff {
			b[len(b)-1]++
			return b
		}
	}
	return nil
}

// again tries what changes nothing a second time if its connection fails: the server may have closed those that the pool has.
func (s *Store) again(ctx context.Context, try func() error) error {
	err := try()
	if e := new(pgconn.PgError); err == nil || ctx.Err() != nil || errors.As(err, &e) && !strings.HasPrefix(e.Code, "57P") {
		return err
	}
	s.pool.Reset()
	return try()
}

// failed returns an error that names the database, and why the context has ended.
func (s *Store) failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", s.name, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w", s.name, err)
}
