package database_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/examples/embed/database"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// store opens the memories of a tenant, on a connection pool of its own as another
// process has.
func store(t *testing.T, file, tenant string) *database.Store {
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

// A limit holds over all processes that share the database.
func TestStoreLimit(t *testing.T) {
	const limit, hooks = 10, 24
	file := filepath.Join(t.TempDir(), "app.db")
	program, diags := rules.LoadBytes(t.Context(), "p.yaml",
		[]byte("ralph: 1\nlimits: {continuations: 10}\nrules: [{name: on, continue: go on}]\n"), loop.Config())
	if program == nil {
		t.Fatal(diags.Err())
	}
	var mu sync.Mutex
	continued := 0
	var all sync.WaitGroup
	for range hooks {
		l, err := loop.New(program, loop.WithStore(store(t, file, "acme")))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			d, err := l.Run(t.Context(), host.Event{SessionID: "s1"})
			if err != nil {
				t.Error(err)
			}
			if d.Verdict.Action == rules.Continue {
				mu.Lock()
				continued++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if continued != limit {
		t.Errorf("%d of %d hooks continued, the limit is %d", continued, hooks, limit)
	}
}
