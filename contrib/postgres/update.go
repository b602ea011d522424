package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Update calls change once with a document and keeps what it returns, in one transaction that begins with the lock of the key.
func (s *Store) Update(ctx context.Context, key string, change func(old []byte) (new []byte, err error)) error {
	leave, err := s.turns.take(ctx, key)
	if err != nil {
		return s.failed(ctx, err)
	}
	defer leave()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return s.failed(ctx, ctx.Err())
	}
	var conn *pgxpool.Conn
	var old []byte
	err = s.again(ctx, func() error {
		conn, old, err = s.begin(ctx, key)
		return err
	})
	if err != nil {
		return s.failed(ctx, err)
	}
	defer conn.Release() // a connection whose transaction is open is closed, and the server rolls it back
	b, err := change(bytes.Clone(old))
	if err != nil {
		return err
	}
	if bytes.Equal(old, b) { // an end of the context undoes nothing
		var cancel func()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), ending)
		defer cancel()
	}
	return s.failed(ctx, commit(ctx, conn, key, old, b))
}

// ending is how long the end of a transaction may take that has written nothing.
const ending = 5 * time.Second

// begin opens a transaction that holds the lock of a key, in one round trip. The lock is one of the transaction and not of the row, so
// that a session without a row has it too, and that it leaves nothing to be vacuumed. Statements after it see what was committed before.
//
// The server ends a transaction that waits for its process longer than the deadline: the process is frozen, or its machine is gone. Without
// a deadline it asks the machine, and ends it after 25 seconds without an answer.
func (s *Store) begin(ctx context.Context, key string) (*pgxpool.Conn, []byte, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	lock, args := `SELECT pg_advisory_xact_lock($1), set_config('idle_in_transaction_session_timeout', '0', true), set_config('tcp_keepalives_idle', '10', true),
		set_config('tcp_keepalives_interval', '5', true), set_config('tcp_keepalives_count', '3', true)`, []any{lockOf(key)}
	if deadline, ok := ctx.Deadline(); ok {
		lock = `SELECT pg_advisory_xact_lock($1), set_config('idle_in_transaction_session_timeout', $2, true)`
		args = append(args, strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()), 10))
	}
	var old []byte
	batch := &pgx.Batch{}
	batch.Queue(`BEGIN ISOLATION LEVEL READ COMMITTED`)
	batch.Queue(lock, args...)
	batch.Queue(loadSQL, []byte(key)).QueryRow(func(row pgx.Row) error { return row.Scan(&old) })
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		conn.Release()
		return nil, nil, err
	}
	return conn, old, nil
}

// commit keeps a document and ends the transaction, in one round trip.
func commit(ctx context.Context, conn *pgxpool.Conn, key string, old, b []byte) error {
	batch := &pgx.Batch{}
	switch {
	case bytes.Equal(old, b):
	case len(b) == 0:
		batch.Queue(`DELETE FROM ralph_documents WHERE key = $1`, []byte(key))
	default:
		batch.Queue(`INSERT INTO ralph_documents (key, document) VALUES ($1, $2)
			ON CONFLICT (key) DO UPDATE SET document = excluded.document, changed = now()`, []byte(key), b)
	}
	batch.Queue(`COMMIT`)
	return conn.SendBatch(ctx, batch).Close()
}

// lockOf returns the advisory lock of a key.
func lockOf(key string) int64 {
	sum := sha256.Sum256([]byte("ralph " + key))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
