package postgres

import (
	"context"
	"embed"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// migrations are the steps to the tables of this version, 1.sql first. One that was released never changes.
//
//go:embed migrations
var migrations embed.FS

// latest is the version that the tables must have.
const latest = 1

// Migrate creates the tables of the store, or brings them to the version of this module, in the schema that is first in
// the search_path of the pool's connections. It does all or nothing, and is safe when several processes start at once. Its
// role must own the tables; that of [Open] only reads and writes them.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	s := store(pool)
	return s.fail("migrate the tables", pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// The others wait here for the end of the transaction.
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockOf(hash("migration")))
		if err == nil {
			_, err = tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS ralph_migration (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`)
		}
		if err != nil {
			return err
		}
		found, err := version(ctx, tx)
		if err != nil {
			return err
		}
		for v := found + 1; v <= latest; v++ {
			sql, err := migrations.ReadFile("migrations/" + strconv.Itoa(v) + ".sql")
			if err == nil {
				_, err = tx.Exec(ctx, string(sql))
			}
			if err == nil {
				_, err = tx.Exec(ctx, `INSERT INTO ralph_migration (version) VALUES ($1)`, v)
			}
			if err != nil {
				return fmt.Errorf("version %d: %w", v, err)
			}
		}
		return fits(max(found, latest))
	}))
}

// version returns the version of the tables, 0 if they are empty.
func version(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (v int, err error) {
	return v, db.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM ralph_migration`).Scan(&v)
}

// fits returns an error for tables of another version.
func fits(v int) error {
	switch {
	case v > latest:
		return fmt.Errorf("the tables have version %d, expected at most %d: build the program with a newer stores/postgres", v, latest)
	case v < latest:
		return fmt.Errorf("the tables have version %d, expected %d: call postgres.Migrate", v, latest)
	}
	return nil
}
