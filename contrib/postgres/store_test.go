//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/contrib/postgres"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

func TestStore(t *testing.T) {
	looptest.Store(t, func(t *testing.T) loop.Store { return open(t, empty(t)) })
}

func put(t *testing.T, s loop.Store, key string) {
	t.Helper()
	if err := s.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte("x"), nil }); err != nil {
		t.Fatal(err)
	}
}

// Stores that are opened at once make the tables once, and a pool that one change would exhaust is refused.
func TestOpen(t *testing.T) {
	url := empty(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { put(t, open(t, url), "k") })
	}
	all.Wait()
	_, err := postgres.Open(t.Context(), connect(t, url+"&pool_max_conns=1"))
	if err == nil || !strings.Contains(err.Error(), "pool_max_conns") {
		t.Errorf("a pool of one connection: %v", err)
	}
}

// Documents of sessions that were not changed for 30 days go; all others stay.
func TestForgetsSessions(t *testing.T) {
	url := empty(t)
	s := open(t, url)
	for _, k := range []string{"session/old", "@tenant/session/old", "@é/session/old", "@tenant/run/session", "stop/old", "session/new"} {
		put(t, s, k)
	}
	if _, err := connect(t, url).Exec(t.Context(), `UPDATE ralph_documents SET changed = now() - interval '31 days' WHERE key != 'session/new'`); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, url).Keys(t.Context(), "")
	if diff := cmp.Diff([]string{"@tenant/run/session", "session/new", "stop/old"}, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got)\n%s", err, diff)
	}
}

// Changes that ask the store for other documents do not wait for each other's connections.
func TestWithin(t *testing.T) {
	s := open(t, empty(t)+"&pool_max_conns=3")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for _, k := range strings.Split("abcdefghijkl", "") {
		all.Go(func() {
			for range 20 {
				if err := s.Update(ctx, k, func([]byte) ([]byte, error) { return s.Load(ctx, "other") }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func newLoop(t *testing.T, s loop.Store, opts ...loop.Option) *loop.Loop {
	t.Helper()
	l, err := count(s, func() {}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func decide(t *testing.T, l *loop.Loop, want rules.Outcome, says string) {
	t.Helper()
	d, err := l.Decide(t.Context(), loop.Event{Session: "s"})
	if err != nil || d.Outcome != want || !strings.Contains(d.Reason, says) {
		t.Errorf("the decision is %s: %q, %v; want %s: %q", d.Outcome, d.Reason, err, want, says)
	}
}

// A decision that does not get its session by its deadline stops and says so, whether this process or another holds the session.
func TestDeadline(t *testing.T) {
	url := empty(t)
	s := open(t, url)
	for name, other := range map[string]loop.Store{"this": s, "another": open(t, url)} {
		err := other.Update(t.Context(), "session/s", func(old []byte) ([]byte, error) {
			decide(t, newLoop(t, s, loop.WithDeadline(300*time.Millisecond)), rules.Failed, "it was not decided within 300ms (PostgreSQL, database postgres at ")
			return old, nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	decide(t, newLoop(t, s), rules.Continued, "0")
}

// The server is gone: the decision stops and says so. It is back: the connections that are left from before do no harm.
func TestServerGone(t *testing.T) {
	l := newLoop(t, open(t, empty(t)))
	decide(t, l, rules.Continued, "0")
	if err := db.down(); err != nil {
		t.Fatal(err)
	}
	decide(t, l, rules.Failed, "PostgreSQL, database postgres at ")
	if err := db.up(); err != nil {
		t.Fatal(err)
	}
	decide(t, l, rules.Continued, "1")
	if err := errors.Join(db.down(), db.up()); err != nil {
		t.Fatal(err)
	}
	decide(t, l, rules.Continued, "2")
}

// The connection is lost in the middle of a decision: it is not counted, and the agent stops.
func TestConnectionLost(t *testing.T) {
	url := empty(t)
	s, admin, lose := open(t, url), connect(t, url), true
	l, err := count(s, func() {
		if lose {
			_, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'`)
			if err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	decide(t, l, rules.Failed, "cannot be kept in session/s: PostgreSQL, database postgres at ")
	lose = false
	decide(t, l, rules.Continued, "0")
}

// A run holds its policy for all processes, until it ends; a context that is done then is no error of the hold.
func TestHold(t *testing.T) {
	url := empty(t)
	one, two := newLoop(t, open(t, url)), newLoop(t, open(t, url))
	ctx, cancel := context.WithCancel(t.Context())
	err := one.Hold(ctx, "p", "r1", func() error {
		if id, err := two.Held(t.Context(), "p"); err != nil || id != "r1" {
			t.Errorf("it is held by %q, %v", id, err)
		}
		if err := two.Hold(t.Context(), "p", "r2", func() error { return nil }); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a second hold: %v", err)
		}
		cancel()
		return nil
	})
	if id, err2 := two.Held(t.Context(), "p"); err != nil || err2 != nil || id != "" {
		t.Errorf("after the hold: %v, %q, %v", err, id, err2)
	}
}

// Records are rows that SQL finds by session, whatever bytes a session has.
func TestRecord(t *testing.T) {
	url := empty(t)
	s := open(t, url)
	l := newLoop(t, s, loop.WithRecorder(s.Record), loop.WithScope("acme"))
	for _, session := range []string{"s", "s", "a\x00b\xff"} {
		if d, err := l.Decide(t.Context(), loop.Event{Session: session}); err != nil || len(d.Log) > 0 {
			t.Errorf("%v, %q", err, d.Log)
		}
	}
	var got string
	err := connect(t, url).QueryRow(t.Context(), `SELECT string_agg(record->>'outcome' || ' ' || (record->>'reason'), ', ' ORDER BY id)
		FROM ralph_records WHERE record->>'session' = 's' AND record->>'scope' = 'acme' AND at <= now()`).Scan(&got)
	if want := "continued 0, continued 1"; err != nil || got != want {
		t.Errorf("the records of the session are %q, %v; want %q", got, err, want)
	}
}
