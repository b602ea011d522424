// Package postgres keeps what loops count, and the records of their decisions, in PostgreSQL 14 or later, for processes on
// any number of machines: [Store] is a [loop.Store] with all that one can be. It may change in any version.
//
//	err := postgres.Migrate(ctx, pool)
//	store, err := postgres.Open(ctx, pool)
//	l, diags := loop.Load(ctx, policies, "policy.yaml", loop.WithStore(store))
//
// A decision that changes memory takes two round trips: one loads the entries, one saves them with the record. The page
// docs/scaling.md of ralph says what it costs, and what happens if the database is slow or gone.
package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/loop"
)

// Store keeps entries, records, documents and leases in tables. The pool stays that of the program, which may use it for more and closes it.
type Store struct {
	pool *pgxpool.Pool
	name string        // for errors
	term time.Duration // of a lease
}

var _ interface {
	loop.Store
	loop.Recorder
	loop.Locker
	loop.Lister
	loop.Documents
	loop.Leases
	loop.Log
} = (*Store)(nil)

// Open returns the store in the tables that [Migrate] made. It fails if they are missing or of another version.
func Open(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	s := store(pool)
	var encoding string
	err := pool.QueryRow(ctx, `SHOW server_encoding`).Scan(&encoding)
	if err == nil && encoding != "UTF8" {
		err = fmt.Errorf("the database has the encoding %s, expected UTF8: create it with ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
	if err == nil {
		var v int
		if v, err = version(ctx, pool); err == nil || code(err) == undefinedTable {
			err = fits(v)
		}
	}
	if err != nil {
		return nil, s.fail("open", err)
	}
	return s, nil
}

func store(pool *pgxpool.Pool) *Store {
	c := pool.Config().ConnConfig
	return &Store{pool, fmt.Sprintf("PostgreSQL (database %s at %s)", c.Database, c.Host), term}
}

// String returns the database and its server, for reasons.
func (s *Store) String() string { return s.name }

// fail returns an error that names the store and what it cannot do, or nil.
func (s *Store) fail(what string, err error) error {
	switch code(err) {
	case serializationFailure, deadlockDetected:
		return fmt.Errorf("%s: %w: %w", s.name, loop.ErrConflict, err)
	case readOnly: // a new connection finds the server that writes, if the URL names several
		s.pool.Reset()
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot %s: %w", s.name, what, err)
}

// The codes of errors of PostgreSQL that mean something to the store.
const (
	readOnly             = "25006"
	undefinedTable       = "42P01"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// code returns the code of an error of the server, or "".
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// hash returns the primary key of what the parts identify. No two lists of parts have the same.
func hash(parts ...string) []byte {
	var all []byte
	for _, p := range parts {
		all = append(binary.AppendUvarint(all, uint64(len(p))), p...)
	}
	sum := sha256.Sum256(all)
	return sum[:]
}

// entryKey returns the primary key of an entry.
func entryKey(k loop.Key) []byte {
	kind := "session"
	if k.Project {
		kind = "project"
	}
	return hash("entry", k.Scope, k.Root, k.Policy, k.Host, k.Session, k.Agent, kind)
}

// lockOf returns the advisory lock of a primary key.
func lockOf(key []byte) int64 { return int64(binary.BigEndian.Uint64(key)) }

// locksOf returns the advisory locks of primary keys, sorted: in one order for all, no two wait for each other.
func locksOf(keys [][]byte) []int64 {
	locks := make([]int64, len(keys))
	for i, key := range keys {
		locks[i] = lockOf(key)
	}
	slices.Sort(locks)
	return slices.Compact(locks)
}
