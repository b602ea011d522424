package database_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/examples/embed/database"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// store opens the memories with a separate connection pool, like another
// process.
func store(t testing.TB, file string) *database.Store {
	t.Helper()
	db, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := database.NewStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The store keeps what loops rely on.
func TestStore(t *testing.T) {
	looptest.Store(t, func(t *testing.T) loop.Store { return store(t, filepath.Join(t.TempDir(), "app.db")) })
}

// stops ends one session a number of times at once, in several loops, and returns how often it
// was continued. Each pool of connections is one of several processes.
func stops(tb testing.TB, deadline time.Duration, pools, loops, stops int) (continued int64) {
	tb.Helper()
	policies := fstest.MapFS{"p.yaml": {Data: []byte("ralph: 1\nlimits: {continuations: 400}\nrules: [{name: on, continue: go on}]\n")}}
	file := filepath.Join(tb.TempDir(), "app.db")
	var n atomic.Int64
	var all sync.WaitGroup
	for range pools {
		shared := store(tb, file)
		for range loops {
			l, diags := loop.Load(tb.Context(), policies, "p.yaml", loop.WithStore(shared), loop.WithDeadline(deadline))
			if l == nil {
				tb.Fatal(diags.Err())
			}
			for range stops / pools / loops {
				all.Go(func() {
					d, err := l.Run(tb.Context(), host.Event{SessionID: "s1"})
					if err != nil {
						tb.Error(err)
					}
					if d.Verdict.Action == rules.Continue {
						n.Add(1)
					}
				})
			}
		}
	}
	all.Wait()
	return n.Load()
}

// A limit holds in a loop, in a process, and over all processes that share the database.
func TestStoreLimit(t *testing.T) {
	for _, c := range []struct{ pools, loops int }{{1, 1}, {1, 60}, {4, 1}} {
		if n := stops(t, time.Minute, c.pools, c.loops, 480); n != 400 {
			t.Errorf("%d loops of %d processes: %d of 480 stops continued, the limit is 400", c.loops, c.pools, n)
		}
	}
}

// A thousand stops of one session at once. None may give up within five seconds.
func BenchmarkStore(b *testing.B) {
	for _, c := range []struct{ pools, loops int }{{1, 1}, {1, 1000}, {10, 1}} {
		b.Run(fmt.Sprintf("%d processes %d loops", c.pools, c.loops), func(b *testing.B) {
			for b.Loop() {
				if n := stops(b, 5*time.Second, c.pools, c.loops, 1000); n != 400 {
					b.Errorf("%d stops continued, the limit is 400", n)
				}
			}
		})
	}
}
