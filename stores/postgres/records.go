package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/loop"
)

// row is what is kept of a record. The zero row is none.
type row struct {
	key, scope []byte
	at         *time.Time
	record     *string
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
	// The ID may be that of an event, which several loops decide.
	return row{hash("record", r.Scope, r.Root, r.Policy, r.Host, r.Session, r.Agent, r.Event, r.ID), []byte(r.Scope), &r.Time, &record}, nil
}

// Record keeps the record of a decision that saves nothing else. It replaces an earlier one of the same loop and ID.
func (s *Store) Record(ctx context.Context, r *loop.Record) error {
	return s.fail("keep the record", s.use(ctx, func(conn *pgxpool.Conn) error { return save(ctx, conn, loop.Write{Record: r}) }))
}
