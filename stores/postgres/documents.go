package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ralph-sdk/ralph/loop"
)

func documentKey(kind, name string) []byte { return hash("document", kind, name) }

// Get returns a document and its version, "" if there is none.
func (s *Store) Get(ctx context.Context, kind, name string) (data []byte, version string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT data, version FROM ralph_document WHERE key = $1`, documentKey(kind, name)).Scan(&data, &version)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, "", nil
	}
	return data, version, s.fail("get a document", err)
}

// Put saves a document if it still has a version, "" for one that does not exist; without data it removes it. Otherwise it
// returns [loop.ErrConflict].
func (s *Store) Put(ctx context.Context, kind, name string, data []byte, version string) error {
	key := documentKey(kind, name)
	var tag pgconn.CommandTag
	var err error
	switch {
	case len(data) == 0 && version == "": // there must be nothing to remove
		if _, version, err = s.Get(ctx, kind, name); err == nil && version == "" {
			return nil
		}
	case len(data) == 0:
		tag, err = s.pool.Exec(ctx, `DELETE FROM ralph_document WHERE key = $1 AND version = $2`, key, version)
	case version == "":
		tag, err = s.pool.Exec(ctx, `INSERT INTO ralph_document VALUES ($1, $2, $3, $4, pg_current_xact_id()::text) ON CONFLICT DO NOTHING`,
			key, []byte(kind), []byte(name), data)
	default:
		tag, err = s.pool.Exec(ctx, `UPDATE ralph_document SET (data, version) = ($3, pg_current_xact_id()::text) WHERE key = $1 AND version = $2`,
			key, version, data)
	}
	if err == nil && tag.RowsAffected() == 0 {
		err = fmt.Errorf("the document %s of the kind %s %w", name, kind, loop.ErrConflict)
	}
	return s.fail("put a document", err)
}

// Names returns the names of the documents of a kind, in no order.
func (s *Store) Names(ctx context.Context, kind string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for last := []byte{}; ; {
			var names []string
			rows, err := s.pool.Query(ctx, `SELECT key, name FROM ralph_document WHERE sha256(kind) = sha256($1) AND key > $2 ORDER BY key LIMIT $3`,
				[]byte(kind), last, page)
			if err == nil {
				var name []byte
				_, err = pgx.ForEachRow(rows, []any{&last, &name}, func() error {
					names = append(names, string(name))
					return nil
				})
			}
			if err != nil {
				yield("", s.fail("list documents", err))
				return
			}
			for _, name := range names {
				if !yield(name, nil) {
					return
				}
			}
			if len(names) < page {
				return
			}
		}
	}
}
