package postgres

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/ralph-sdk/ralph/loop"
)

// Record is a [loop.Recorder] that adds a row to the table ralph_records: give store.Record to loop.WithRecorder. The column record has
// the fields of the JSON form of [loop.Record]. Rows stay until the program removes them.
func (s *Store) Record(ctx context.Context, r loop.Record) error {
	b, err := json.Marshal(r)
	if err == nil {
		b = bytes.ReplaceAll(b, []byte(`\u0000`), []byte(`\ufffd`)) // jsonb has no texts with it
		_, err = s.pool.Exec(ctx, `INSERT INTO ralph_records (at, record) VALUES ($1, $2)`, r.Time, b)
	}
	return s.failed(ctx, err)
}
