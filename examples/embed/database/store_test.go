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

// store opens the memories of a tenant, on a connection pool of its own as another
// process has.
func store(t testing.TB, file, tenant string) *database.Store {
	t.Helper()
	db, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := database.NewStore(t.Context(), db, tenant)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The store keeps what loops rely on.
func TestStore(t *testing.T) {
	looptest.Store(t, func(t *testing.T) loop.Store { return store(t, filepath.Join(t.TempDir(), "app.db"), "acme") })
}

// Tenants have memories of their own under the same key.
func TestStoreTenants(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	a, b := store(t, file, "acme"), store(t, file, "beta")
	key := loop.Key{Policy: "p", Session: "s1"}
	if err := a.Save(t.Context(), loop.Entry{Key: key, Memory: rules.Memory{Streak: 7}}); err != nil {
		t.Fatal(err)
	}
	entries, err := b.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if entries[0].Version != "" || entries[0].Memory.Streak != 0 {
		t.Errorf("the other tenant sees %+v", entries[0])
	}
}

// A limit holds over all stops of a session at once, in one process and in several, each with its
// own connections.
func TestStoreLimit(t *testing.T) {
	for _, test := range []struct{ processes, stops int }{{1, 1000}, {8, 200}} {
		t.Run(fmt.Sprintf("%d processes", test.processes), func(t *testing.T) { stopAtOnce(t, test.processes, test.stops) })
	}
}

// A thousand stops of a session at once take less than five seconds, after which a decision gives up.
func BenchmarkStoreLimit(b *testing.B) {
	for b.Loop() {
		stopAtOnce(b, 1, 1000, loop.WithDeadline(5*time.Second))
	}
}

func stopAtOnce(t testing.TB, processes, stops int, opts ...loop.Option) {
	const limit = 50
	file := filepath.Join(t.TempDir(), "app.db")
	policies := fstest.MapFS{"p.yaml": {Data: fmt.Appendf(nil, "ralph: 1\nlimits: {continuations: %d}\nrules: [{name: on, continue: Go on.}]\n", limit)}}
	var loops []*loop.Loop
	for range processes {
		l, diags := loop.Load(t.Context(), policies, "p.yaml", append(opts, loop.WithStore(store(t, file, "acme")))...)
		if l == nil {
			t.Fatal(diags.Err())
		}
		loops = append(loops, l)
	}
	var continued atomic.Int64
	var all sync.WaitGroup
	for i := range stops {
		all.Go(func() {
			d, err := loops[i%processes].Run(t.Context(), host.Event{SessionID: "s1"})
			if err != nil {
				t.Error(err)
			}
			if d.Verdict.Action == rules.Continue {
				continued.Add(1)
			}
		})
	}
	all.Wait()
	if continued.Load() != limit {
		t.Errorf("%d of %d stops continued, the limit is %d", continued.Load(), stops, limit)
	}
}
