package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/loop"
)

// row is what is kept of a record. The zero row is none.
type row struct {
	key, scope, root, policy, session, id []byte
	at                                    *time.Time
	record                                *string
}

func rowOf(r *loop.Record) (row, error) {
	if r == nil {
		return row{}, nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return row{}, err
	}
	record := string(line)
	return row{
		// The ID may be that of an event, which several loops decide.
		key:   hash("record", r.Scope, r.Root, r.Policy, r.Host, r.Session, r.Agent, r.Event, r.ID),
		scope: []byte(r.Scope), root: []byte(r.Root), policy: []byte(r.Policy), session: []byte(r.Session), id: []byte(r.ID),
		at: &r.Time, record: &record,
	}, nil
}

// Record keeps the record of a decision that saves nothing else. It replaces an earlier one of the same loop and ID.
func (s *Store) Record(ctx context.Context, r *loop.Record) error {
	return s.fail("keep the record", s.use(ctx, func(conn *pgxpool.Conn) error { return save(ctx, conn, loop.Write{Record: r}) }))
}

// Records reads the records in pages, the latest first: no connection is taken while the caller looks at them.
func (s *Store) Records(ctx context.Context, f loop.LogFilter) iter.Seq2[*loop.Record, error] {
	return func(yield func(*loop.Record, error) bool) {
		at, last := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), []byte{}
		for {
			var records []*loop.Record
			rows, err := s.pool.Query(ctx, `
				SELECT at, key, record FROM ralph_record
				WHERE sha256(scope) = sha256($1) AND (at, key) < ($2, $3) AND at >= $4 AND ($5 = ''::bytea OR root = $5)
					AND ($6 = ''::bytea OR policy = $6) AND ($7 = ''::bytea OR session = $7) AND ($8 = ''::bytea OR id = $8)
				ORDER BY sha256(scope) DESC, at DESC, key DESC LIMIT $9`,
				[]byte(f.Scope), at, last, f.Since, []byte(f.Root), []byte(f.Policy), []byte(f.Session), []byte(f.ID), page)
			if err == nil {
				var record []byte
				_, err = pgx.ForEachRow(rows, []any{&at, &last, &record}, func() error {
					r := new(loop.Record)
					if err := json.Unmarshal(record, r); err != nil {
						return fmt.Errorf("the record of %s: %w", at, err)
					}
					records = append(records, r)
					return nil
				})
			}
			if err != nil {
				yield(nil, s.fail("read the records", err))
				return
			}
			for _, r := range records {
				if !r.Time.Before(f.Since) && !yield(r, nil) { // at has microseconds
					return
				}
			}
			if len(records) < page {
				return
			}
		}
	}
}
