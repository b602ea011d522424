package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/loop"
)

// Load reads the entries in one statement, so that they belong together. After a restart of the server all connections
// that wait in the pool are dead; Load then drops them and tries a new one, so that this costs no decision.
func (s *Store) Load(ctx context.Context, keys ...loop.Key) (entries []loop.Entry, err error) {
	for attempt := range 2 {
		var dead bool
		err = s.use(ctx, func(conn *pgxpool.Conn) (err error) {
			entries, err = load(ctx, conn, keys)
			dead = conn.Conn().IsClosed()
			return err
		})
		if !dead || attempt > 0 || ctx.Err() != nil {
			break
		}
		s.pool.Reset()
	}
	return entries, s.fail("load what was counted", err)
}

// use calls do with a connection of the pool.
func (s *Store) use(ctx context.Context, do func(*pgxpool.Conn) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return do(conn)
}

func load(ctx context.Context, conn *pgxpool.Conn, keys []loop.Key) ([]loop.Entry, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var sql strings.Builder
	entries, args := make([]loop.Entry, len(keys)), make([]any, len(keys))
	for i, key := range keys {
		from := `entry, convert_to(version, 'UTF8') FROM ralph_entry WHERE`
		entries[i].Key, args[i] = key, entryKey(key)
		switch {
		case key.Kind != "":
			from, args[i] = `NULL::json, convert_to(version, 'UTF8') FROM ralph_document WHERE`, documentKey(key.Kind, key.Name)
		case key.Name != "":
			from, args[i] = `NULL::json, owner FROM ralph_lease WHERE ends >= now() AND`, leaseKey(key.Name)
		}
		if i > 0 {
			sql.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&sql, "SELECT %d, %s key = $%d", i, from, i+1)
	}
	rows, err := conn.Query(ctx, sql.String(), args...)
	if err != nil {
		return nil, err
	}
	var i int
	var entry, version []byte
	_, err = pgx.ForEachRow(rows, []any{&i, &entry, &version}, func() error {
		entries[i].Version = string(version)
		if entry == nil {
			return nil
		}
		if err := json.Unmarshal(entry, &entries[i]); err != nil {
			return fmt.Errorf("an entry of the session %q is damaged: %w; run `DELETE FROM ralph_entry WHERE key = '\\x%x'` to begin again with nothing counted", keys[i].Session, err, args[i])
		}
		return nil
	})
	return entries, err
}

// Save writes all of w in one transaction and one round trip. It waits for who has locked one of the entries.
func (s *Store) Save(ctx context.Context, w loop.Write) error {
	return s.fail("save what was counted", s.use(ctx, func(conn *pgxpool.Conn) error { return save(ctx, conn, w) }))
}

// columns are those of the entries of a Write, an array each.
type columns struct {
	keys, scopes, roots, policies, hosts, sessions, agents [][]byte
	projects, pending                                      []bool
	entries, versions                                      []string
}

func save(ctx context.Context, conn *pgxpool.Conn, w loop.Write) error {
	if len(w.Entries) == 0 && w.Record == nil {
		return nil
	}
	var c columns
	for _, e := range w.Entries {
		entry, err := json.Marshal(e)
		if err != nil {
			return err
		}
		k := e.Key
		c.keys, c.scopes, c.roots = append(c.keys, entryKey(k)), append(c.scopes, []byte(k.Scope)), append(c.roots, []byte(k.Root))
		c.policies, c.hosts = append(c.policies, []byte(k.Policy)), append(c.hosts, []byte(k.Host))
		c.sessions, c.agents = append(c.sessions, []byte(k.Session)), append(c.agents, []byte(k.Agent))
		c.projects, c.pending = append(c.projects, k.Project), append(c.pending, len(e.Pending) > 0)
		c.entries, c.versions = append(c.entries, string(entry)), append(c.versions, e.Version)
	}
	r, err := rowOf(w.Record)
	if err != nil {
		return err
	}
	// Two statements, so that the second sees what was saved before it had the locks. Both are one transaction, since
	// nothing separates them, and one round trip.
	var version string
	var batch pgx.Batch
	if len(w.Entries) > 0 {
		batch.Queue(`SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) AS k`, locksOf(c.keys))
	}
	batch.Queue(`
		WITH w AS (
			SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::boolean[],
				$9::text[], $10::boolean[], $11::text[]) AS w (key, scope, root, policy, host, session, agent, project, entry, pending, version)
		), same AS (
			SELECT WHERE NOT EXISTS (SELECT FROM w WHERE w.version <> coalesce((SELECT version FROM ralph_entry e WHERE e.key = w.key), ''))
		), entries AS (
			INSERT INTO ralph_entry
			SELECT key, scope, root, policy, host, session, agent, project, entry::json, pending, pg_current_xact_id()::text, now() FROM w, same
			ON CONFLICT (key) DO UPDATE SET (entry, pending, version, saved) = (excluded.entry, excluded.pending, excluded.version, excluded.saved)
		), record AS (
			INSERT INTO ralph_record
			SELECT $12::bytea, $13::bytea, $14::bytea, $15::bytea, $16::bytea, $17::bytea, $18::timestamptz, $19::text::json FROM same WHERE $12 IS NOT NULL
			ON CONFLICT (key) DO UPDATE SET (at, record) = (excluded.at, excluded.record)
		)
		SELECT pg_current_xact_id()::text FROM same`,
		c.keys, c.scopes, c.roots, c.policies, c.hosts, c.sessions, c.agents, c.projects, c.entries, c.pending, c.versions,
		r.key, r.scope, r.root, r.policy, r.session, r.id, r.at, r.record).QueryRow(func(row pgx.Row) error { return row.Scan(&version) })
	switch err := conn.SendBatch(ctx, &batch).Close(); {
	case err == pgx.ErrNoRows:
		return loop.ErrConflict
	case err != nil:
		return err
	}
	for i := range w.Entries {
		w.Entries[i].Version = version
	}
	return nil
}

// page is how many entries List reads at once.
const page = 100

// List reads the entries in pages: no connection is taken while the caller looks at them.
func (s *Store) List(ctx context.Context, f loop.Filter) iter.Seq2[loop.Entry, error] {
	sql := `SELECT key, scope, root, policy, host, session, agent, project, entry, version FROM ralph_entry
		WHERE sha256(scope) = sha256($1) AND key > $2 AND ($3 = ''::bytea OR policy = $3) AND ($4 = ''::bytea OR root = $4)`
	if f.Pending {
		sql += ` AND pending` // as text, so that the planner takes the index of these
	}
	sql += ` ORDER BY key LIMIT $5`
	return func(yield func(loop.Entry, error) bool) {
		for last := []byte{}; ; {
			var entries []loop.Entry
			rows := 0
			err := s.use(ctx, func(conn *pgxpool.Conn) error {
				found, err := conn.Query(ctx, sql, []byte(f.Scope), last, []byte(f.Policy), []byte(f.Root), page)
				if err != nil {
					return err
				}
				var scope, root, policy, host, session, agent, entry []byte
				var e loop.Entry
				into := []any{&last, &scope, &root, &policy, &host, &session, &agent, &e.Key.Project, &entry, &e.Version}
				_, err = pgx.ForEachRow(found, into, func() error {
					rows++
					k := &e.Key
					k.Scope, k.Root, k.Policy, k.Host, k.Session, k.Agent = string(scope), string(root), string(policy), string(host), string(session), string(agent)
					if json.Unmarshal(entry, &e) == nil { // otherwise the next event of its session reports it
						entries = append(entries, e)
					}
					return nil
				})
				return err
			})
			if err != nil {
				yield(loop.Entry{}, s.fail("list", err))
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if rows < page {
				return
			}
		}
	}
}

// Expire deletes the entries that were saved before a time and have no effects to make, and returns how many.
func (s *Store) Expire(ctx context.Context, before time.Time) (int, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM ralph_entry WHERE saved < $1 AND NOT pending`, before)
	return int(tag.RowsAffected()), s.fail("expire", err)
}
