// Package database, which may change in any version, keeps what a loop needs in a SQL
// database: the memories of loops in a [Store], and facts that policies read by queries in
// [Rows]. [Server] decides by policies of others with it.
package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ralph-sdk/ralph/loop"
)

// Store is a [loop.Store] on a table. Programs on any number of machines can share
// it: what one of them saved, no other overwrites unseen.
type Store struct{ db *sql.DB }

// NewStore returns the store on the database, and creates its table if that is missing.
// Tenants that share it have scopes, see [loop.WithScope].
func NewStore(ctx context.Context, db *sql.DB) (*Store, error) {
	_, err := db.ExecContext(ctx, `
		CREATE TABLE IF NOT EXISTS ralph_memory (
			loop    TEXT PRIMARY KEY, -- the loop.Key as JSON
			entry   TEXT NOT NULL,    -- the loop.Entry as JSON
			version INTEGER NOT NULL  -- counts the saves
		)`)
	return &Store{db}, err
}

// Load reads the entries in one transaction, so that they belong together.
func (s *Store) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	entries := make([]loop.Entry, len(keys))
	for i, key := range keys {
		if entries[i], err = s.load(ctx, tx, key); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (s *Store) load(ctx context.Context, tx *sql.Tx, key loop.Key) (loop.Entry, error) {
	e := loop.Entry{Key: key}
	name, err := json.Marshal(key)
	if err != nil {
		return e, err
	}
	var entry []byte
	err = tx.QueryRowContext(ctx, `SELECT entry, version FROM ralph_memory WHERE loop = ?`, string(name)).
		Scan(&entry, &e.Version)
	switch {
	case err == sql.ErrNoRows:
		return e, nil
	case err != nil:
		return e, err
	}
	return e, json.Unmarshal(entry, &e)
}

// Save writes all entries in one transaction, or none: each only over the version
// that was loaded.
func (s *Store) Save(ctx context.Context, w loop.Write) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range w.Entries {
		if err := s.save(ctx, tx, &w.Entries[i]); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *Store) save(ctx context.Context, tx *sql.Tx, e *loop.Entry) error {
	name, err := json.Marshal(e.Key)
	if err != nil {
		return err
	}
	entry, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var result sql.Result
	var version int64 // "" is none
	if e.Version == "" {
		result, err = tx.ExecContext(ctx, `INSERT INTO ralph_memory (loop, entry, version) VALUES (?, ?, 1) ON CONFLICT DO NOTHING`,
			string(name), string(entry))
	} else {
		if version, err = strconv.ParseInt(e.Version, 10, 64); err != nil {
			return fmt.Errorf("version %q is not of this store: %w", e.Version, loop.ErrConflict)
		}
		result, err = tx.ExecContext(ctx, `UPDATE ralph_memory SET entry = ?, version = version + 1 WHERE loop = ? AND version = ?`,
			string(entry), string(name), version)
	}
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return fmt.Errorf("the memory of %s: %w", e.Key.Policy, loop.ErrConflict)
	}
	e.Version = strconv.FormatInt(version+1, 10)
	return nil
}
