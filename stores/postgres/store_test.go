//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/stores/postgres"
)

// Whatever a pool does with its statements, such as for a pooler between it and the server.
func TestStore(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			looptest.Store(t, func(t *testing.T) loop.Store {
				return open(t, connect(t, shared.empty(t), func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode }))
			})
		})
	}
}

func TestRecorder(t *testing.T) {
	looptest.Recorder(t, func(t *testing.T) (loop.Recorder, func() []*loop.Record) {
		pool := connect(t, shared.empty(t))
		return open(t, pool), func() []*loop.Record { return records(t, pool) }
	})
}

// records returns all that are kept.
func records(tb testing.TB, pool *pgxpool.Pool) []*loop.Record {
	tb.Helper()
	rows, err := pool.Query(context.Background(), `SELECT record FROM ralph_record ORDER BY at`)
	if err != nil {
		tb.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*loop.Record, error) {
		var line []byte
		if err := row.Scan(&line); err != nil {
			return nil, err
		}
		r := new(loop.Record)
		return r, json.Unmarshal(line, r)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// NUL is legal in every text, and a path may hold any byte. Keys that differ in it are different.
func TestAnyText(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	for i, text := range []string{"a\x00b", "a\x00", "a", "\xff", "\xfe", "\ufffd", `\x00`, ""} {
		w := loop.Write{
			Entries: []loop.Entry{{
				Key:     loop.Key{Scope: text, Root: text, Policy: text, Host: text, Session: text, Agent: text},
				Memory:  rules.Memory{Turn: "t\x00" + text, Total: i + 1},
				Pending: []loop.Call{{ID: text}},
			}},
			Record: &loop.Record{Head: loop.Head{ID: text, Scope: text, Session: text, Reason: "r\x00"}},
		}
		if err := s.Save(t.Context(), w); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		key := w.Entries[0].Key
		got, err := s.Load(t.Context(), key)
		if err != nil || got[0].Memory.Total != i+1 {
			t.Fatalf("%q: Load returns %+v, %v", text, got, err)
		}
		n := 0
		for e, err := range s.List(t.Context(), loop.Filter{Scope: text, Policy: text, Pending: true}) {
			if n++; err != nil || e.Key != key || e.Version != w.Entries[0].Version {
				t.Errorf("%q: List returns %+v, %v", text, e, err)
			}
		}
		if n != 1 {
			t.Errorf("%q: List returns %d entries, want 1", text, n)
		}
	}
	if n := len(records(t, pool)); n != 8 {
		t.Errorf("%d records are kept, want 8", n)
	}
}

// A record is kept with what is saved or not at all, and a later one of the same loop and ID replaces it.
func TestRecordWithWrite(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	record := func(session, reason string) *loop.Record {
		return &loop.Record{Head: loop.Head{ID: "e1", Session: session, Reason: reason}}
	}
	want := func(reasons ...string) {
		t.Helper()
		var got []string
		for _, r := range records(t, pool) {
			got = append(got, r.Reason)
		}
		if diff := cmp.Diff(reasons, got); diff != "" {
			t.Errorf("the records (-want +got):\n%s", diff)
		}
	}
	entries := []loop.Entry{{Key: loop.Key{Session: "s"}}}
	if err := s.Save(t.Context(), loop.Write{Entries: entries, Record: record("s", "first")}); err != nil {
		t.Fatal(err)
	}
	want("first")
	stale := []loop.Entry{{Key: loop.Key{Session: "s"}, Version: "1"}}
	if err := s.Save(t.Context(), loop.Write{Entries: stale, Record: record("s", "stale")}); !errors.Is(err, loop.ErrConflict) {
		t.Errorf("Save under another version returns %v, want ErrConflict", err)
	}
	want("first")
	if err := s.Save(t.Context(), loop.Write{Entries: entries, Record: record("s", "second")}); err != nil {
		t.Fatal(err)
	}
	want("second")
	if err := s.Record(t.Context(), record("s", "third")); err != nil {
		t.Fatal(err)
	}
	want("third")
	if err := s.Save(t.Context(), loop.Write{Record: record("other", "of another")}); err != nil {
		t.Fatal(err)
	}
	want("third", "of another")
}

// What was counted in an entry that cannot be read is unknown, so the agent may stop. The statement in the reason begins again.
func TestDamagedEntry(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	l, err := newLoop(s, "acme", 10)
	if err != nil {
		t.Fatal(err)
	}
	run := func() *loop.Decision {
		d, _ := l.Run(t.Context(), host.Event{SessionID: "s"})
		return d
	}
	if d := run(); d.Err != nil {
		t.Fatal(d.Err)
	}
	for _, entry := range []string{`{}`, `null`, `[]`, `{"memory": {"total": "x"}}`, `{"memory": {"total": -1}}`} {
		if _, err := pool.Exec(t.Context(), `UPDATE ralph_entry SET entry = $1 WHERE policy <> ''`, entry); err != nil {
			t.Fatal(err)
		}
		d := run()
		_, advice, _ := strings.Cut(d.Verdict.Reason, "run `")
		sql, _, ok := strings.Cut(advice, "`")
		if d.Verdict.Cause != rules.FaultMemory || !ok {
			t.Fatalf("%s: it says %s (%s): %q", entry, d.Verdict.Action, d.Verdict.Cause, d.Verdict.Reason)
		}
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %s: %v", entry, sql, err)
		}
		if d := run(); d.Err != nil || d.Verdict.Action != rules.Continue {
			t.Errorf("%s: after the advice it says %s, error %v", entry, d.Verdict.Action, d.Err)
		}
	}
}

// Processes that start at once migrate once, and Open refuses what does not fit.
func TestMigrate(t *testing.T) {
	url := shared.empty(t)
	if _, err := postgres.Open(t.Context(), connect(t, url)); err == nil || !strings.Contains(err.Error(), "call postgres.Migrate") {
		t.Errorf("Open without tables returns %v", err)
	}
	var all sync.WaitGroup
	for range 8 {
		pool := connect(t, url)
		all.Go(func() {
			if err := postgres.Migrate(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	pool := connect(t, url)
	if _, err := postgres.Open(t.Context(), pool); err != nil {
		t.Error(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO ralph_migration (version) VALUES (99)`); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), pool); err == nil || !strings.Contains(err.Error(), "newer stores/postgres") {
		t.Errorf("Open of newer tables returns %v", err)
	}
	if err := postgres.Migrate(t.Context(), pool); err == nil || !strings.Contains(err.Error(), "newer stores/postgres") {
		t.Errorf("Migrate of newer tables returns %v", err)
	}
	name := "latin" + url[strings.LastIndex(url, "=")+1:]
	if _, err := pool.Exec(t.Context(), `CREATE DATABASE `+name+` ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`); err != nil {
		t.Fatal(err)
	}
	latin := strings.Replace(url, "/postgres?", "/"+name+"?", 1)
	if _, err := postgres.Open(t.Context(), connect(t, latin)); err == nil || !strings.Contains(err.Error(), "expected UTF8") {
		t.Errorf("Open in another encoding returns %v", err)
	}
}

// trips counts round trips: a write after a read.
type trips struct {
	net.Conn
	n       *atomic.Int64
	writing bool
}

func (c *trips) Write(b []byte) (int, error) {
	if !c.writing {
		c.n.Add(1)
	}
	c.writing = true
	return c.Conn.Write(b)
}

func (c *trips) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.writing = false
	return n, err
}

// What a decision costs, with its record, once the connection knows the statements.
func TestRoundTrips(t *testing.T) {
	var n atomic.Int64
	pool := connect(t, shared.empty(t), func(c *pgxpool.Config) {
		c.MaxConns = 1
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
		c.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &trips{Conn: conn, n: &n}, err
		}
	})
	s := open(t, pool)
	for _, tt := range []struct {
		name, rule string
		want       int64
	}{
		{"it changes memory", "continue: go on", 2},
		{"it changes nothing", "stop: done", 2},
		{"it has an effect", "continue: go on, then: [{post: hello}]", 3},
		{"it changes a file", "continue: go on, then: [{set: state.n = state.n + 1}]", 5}, // under a lock
	} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/state.json", []byte(`{"n": 1}`), 0o600); err != nil {
			t.Fatal(err)
		}
		policies := fstest.MapFS{"p.yaml": {Data: []byte("ralph: 1\nfacts: {state: {json: state.json, schema: {properties: {n: {type: integer}}}}}\nrules: [{name: a, " + tt.rule + "}]\n")}}
		post := func(context.Context, loop.Call) error { return nil }
		l, diags := loop.Load(t.Context(), policies, "p.yaml", loop.WithStore(s), loop.WithRoot(dir), loop.WithEffect(rules.EffectDecl{Name: "post", Doc: "Posts."}, post))
		if l == nil {
			t.Fatal(diags.Err())
		}
		for i := range 3 {
			before := n.Load()
			if _, err := l.Run(t.Context(), host.Event{SessionID: tt.name, ID: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
			if got := n.Load() - before; i > 0 && got != tt.want {
				t.Errorf("%s: decision %d takes %d round trips, want %d", tt.name, i, got, tt.want)
			}
		}
	}
}

// waits returns after some connection of the pool waits for a lock.
func waits(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	for got := -1; got != n; {
		err := pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = $1`, t.Name()).Scan(&got)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Who has the lock of an entry makes others wait, also if there is no such entry yet; the end of the lock ends the waiting,
// whatever ends it.
func TestLock(t *testing.T) {
	a, b := loop.Key{Session: "a"}, loop.Key{Session: "b"}
	for _, tt := range []struct {
		name string
		end  func(t *testing.T, cancel, unlock func(), pool *pgxpool.Pool)
		lost bool // the connection
	}{
		{"unlock", func(_ *testing.T, _, unlock func(), _ *pgxpool.Pool) { unlock(); unlock() }, false},
		{"its context", func(_ *testing.T, cancel, _ func(), _ *pgxpool.Pool) { cancel() }, true},
		{"the server", func(t *testing.T, _, _ func(), pool *pgxpool.Pool) {
			_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
				WHERE l.locktype = 'advisory' AND l.granted AND a.application_name = $1`, t.Name())
			if err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := shared.empty(t)
			named := func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["application_name"] = t.Name() }
			s, other, admin := open(t, connect(t, url, named)), open(t, connect(t, url, named)), connect(t, url)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			held, unlock, err := s.Lock(ctx, b, a, b)
			if err != nil {
				t.Fatal(err)
			}
			if err := held.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: a, Memory: rules.Memory{Total: 1}}}}); err != nil {
				t.Fatal(err)
			}
			saved := make(chan error, 2)
			go func() { saved <- other.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: b}}}) }()
			waits(t, admin, 1)
			go func() {
				_, unlock, err := other.Lock(t.Context(), a)
				if err == nil {
					unlock()
				}
				saved <- err
			}()
			waits(t, admin, 2)
			if err := other.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: loop.Key{Session: "c"}}}}); err != nil {
				t.Errorf("Save of another entry fails: %v", err)
			}
			if e, err := other.Load(t.Context(), a); err != nil || e[0].Memory.Total != 1 {
				t.Errorf("what was saved under the lock is %+v, %v before its end", e, err)
			}
			tt.end(t, cancel, unlock, admin)
			for range 2 {
				if err := <-saved; err != nil {
					t.Errorf("after the end of the lock: %v", err)
				}
			}
			if tt.name == "the server" { // it is noticed by the first use
				if _, err := held.Load(t.Context(), a); err == nil {
					t.Error("Load on a connection that the server has ended returns no error")
				}
			}
			e, err := held.Load(t.Context(), a)
			if err == nil {
				err = held.Save(t.Context(), loop.Write{Entries: e})
			}
			if err != nil {
				t.Errorf("after its end, the held store fails: %v", err)
			}
			unlock()
			var leftover int
			if err := admin.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks JOIN pg_stat_activity a USING (pid)
				WHERE locktype = 'advisory' AND a.application_name = $1`, t.Name()).Scan(&leftover); err != nil || leftover > 0 {
				t.Errorf("%d locks are left, %v", leftover, err)
			}
		})
	}
}

// A process that is frozen with a lock keeps others waiting until its deadline, by the clock of the server.
func TestLockOfFrozenProcess(t *testing.T) {
	url := shared.empty(t)
	s := open(t, connect(t, url))
	p := workload{URL: url, Lock: time.Second}.begin(t)
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: loop.Key{Session: "locked"}}}}); err != nil {
		t.Error(err)
	}
}

// The connection of a lock goes back to the pool as it was.
func TestLockLeavesNothing(t *testing.T) {
	pool := connect(t, shared.empty(t)+"&idle_session_timeout=7000000", func(c *pgxpool.Config) { c.MaxConns = 1 })
	_, unlock, err := open(t, pool).Lock(t.Context(), loop.Key{Session: "a"})
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	var after string
	if err := pool.QueryRow(t.Context(), `SHOW idle_session_timeout`).Scan(&after); err != nil || after != "7000s" {
		t.Errorf("after the lock the connection may be idle for %s, %v, want 7000s", after, err)
	}
}

// The queries of the documentation are right.
func TestQueries(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	for i, at := range []time.Time{time.Now(), time.Now().AddDate(-1, 0, 0)} {
		if err := s.Record(t.Context(), &loop.Record{Head: loop.Head{ID: fmt.Sprint(i), Scope: "acme", Time: at}}); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile("testdata/queries.sql")
	if err != nil {
		t.Fatal(err)
	}
	results, err := pool.Query(t.Context(), strings.Split(string(file), ";")[0])
	if err == nil {
		var rows []string
		rows, err = pgx.CollectRows(results, func(row pgx.CollectableRow) (string, error) { return "", nil })
		if len(rows) != 2 {
			t.Errorf("%d records are found, want 2", len(rows))
		}
	}
	if err == nil {
		_, err = pool.Exec(t.Context(), string(file))
	}
	if n := len(records(t, pool)); err != nil || n != 1 {
		t.Errorf("%d records are left, %v, want 1", n, err)
	}
}

// Expire deletes what was not saved since, but nothing with effects to make.
func TestExpire(t *testing.T) {
	s := open(t, connect(t, shared.empty(t)))
	entries := []loop.Entry{{Key: loop.Key{Session: "a"}}, {Key: loop.Key{Session: "b"}, Pending: []loop.Call{{ID: "1"}}}}
	if err := s.Save(t.Context(), loop.Write{Entries: entries}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}, {time.Now().Add(time.Hour), 0}} {
		if n, err := s.Expire(t.Context(), tt.before); n != tt.want || err != nil {
			t.Errorf("Expire(%s) = %d, %v, want %d", tt.before, n, err, tt.want)
		}
	}
}

// List reads page by page, and its caller may use the only connection meanwhile.
func TestList(t *testing.T) {
	s := open(t, connect(t, shared.empty(t), func(c *pgxpool.Config) { c.MaxConns = 1 }))
	want := map[loop.Key]bool{}
	var entries []loop.Entry
	for i := range 250 {
		k := loop.Key{Scope: "mine", Policy: fmt.Sprint("p", i%2), Session: fmt.Sprint(i)}
		e := loop.Entry{Key: k}
		if want[k] = i%2 == 0; i == 7 {
			e.Pending = []loop.Call{{ID: "c"}}
		}
		entries = append(entries, e, loop.Entry{Key: loop.Key{Scope: "other", Policy: "p0", Session: fmt.Sprint(i)}})
	}
	if err := s.Save(t.Context(), loop.Write{Entries: entries}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		filter loop.Filter
		want   int
	}{
		{loop.Filter{Scope: "mine"}, 250}, {loop.Filter{Scope: "mine", Policy: "p0"}, 125}, {loop.Filter{Scope: "mine", Pending: true}, 1},
		{loop.Filter{Scope: "mine", Policy: "p0", Pending: true}, 0}, {loop.Filter{}, 0},
	} {
		seen := map[loop.Key]bool{}
		for e, err := range s.List(t.Context(), tt.filter) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Load(t.Context(), e.Key); err != nil {
				t.Fatal(err)
			}
			if _, mine := want[e.Key]; !mine || seen[e.Key] {
				t.Errorf("%+v lists %+v", tt.filter, e.Key)
			}
			seen[e.Key] = true
		}
		if len(seen) != tt.want {
			t.Errorf("%+v lists %d entries, want %d", tt.filter, len(seen), tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.List(ctx, loop.Filter{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("List with a context that is done returns %v", err)
		}
	}
}

// Two tenants that call everything alike never see each other.
func TestTenants(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	for _, tenant := range []string{"acme", "globex"} {
		l, err := newLoop(s, tenant, 3)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range 4 {
			d, err := l.Run(t.Context(), host.Event{SessionID: "s1", ID: fmt.Sprint("e", i)})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d.Verdict.Action.String())
		}
		if diff := cmp.Diff([]string{"continue", "continue", "continue", "stop"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tenant, diff)
		}
		for e, err := range s.List(t.Context(), loop.Filter{Scope: tenant}) {
			if err != nil || e.Key.Scope != tenant || e.Memory.Total > 3 {
				t.Errorf("%s lists %+v, %v", tenant, e, err)
			}
		}
	}
	counts := map[string]int{}
	for _, r := range records(t, pool) {
		counts[r.Scope]++
	}
	if diff := cmp.Diff(map[string]int{"acme": 4, "globex": 4}, counts); diff != "" {
		t.Errorf("the records (-want +got):\n%s", diff)
	}
}
