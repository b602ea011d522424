package looptest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// counted is a policy that counts, changes a fact and has an effect of its own at each continuation.
const counted = `
ralph: 1
facts: {row: {rows: row}}
rules:
  - name: go
    when: row.n < 3
    continue: n is ${row.n}
    then: [{set: row.n = row.n + 1}, {post: '${row.n}'}]
`

// A world is what outlives the processes of a test: a fact, and calls of an effect. It counts the points at which a process
// may end, and ends it at one of them.
type world struct {
	mu    sync.Mutex
	n     int // the fact
	calls map[string]int
	now   time.Time
	left  int // points until the process ends; negative is never
}

// point is a place at which the process may end: as if it were killed, the rest of it does not run.
func (w *world) point() {
	w.mu.Lock()
	w.left--
	end := w.left == 0
	w.mu.Unlock()
	if end {
		runtime.Goexit()
	}
}

// Kind is that of the fact.
func (w *world) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "rows", Doc: "A row.", Editable: true}
}

// Gather returns the fact.
func (w *world) Gather(context.Context, loop.Query) rules.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	return rules.Value{V: map[string]any{"n": w.n}, Path: "row", Version: fmt.Sprint(w.n)}
}

// Write changes the fact.
func (w *world) Write(_ context.Context, effects []rules.Effect) error {
	w.point()
	defer w.point()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range effects {
		if e.Version != fmt.Sprint(w.n) {
			return fmt.Errorf("the row %w", loop.ErrConflict)
		}
	}
	for range effects {
		w.n++
	}
	return nil
}

// post is the effect.
func (w *world) post(_ context.Context, c loop.Call) error {
	w.point()
	w.mu.Lock()
	w.calls[c.ID]++
	w.mu.Unlock()
	w.point()
	return nil
}

// killed is a store of a process that may end before and after each Save.
type killed struct {
	loop.Store
	world *world
}

func (k killed) Save(ctx context.Context, w loop.Write) error {
	k.world.point()
	err := k.Store.Save(ctx, w)
	k.world.point()
	return err
}

// process returns the loop of a new process.
func (w *world) process(t *testing.T, s loop.Store, more ...loop.Option) *loop.Loop {
	t.Helper()
	l, found := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(counted)}}, "p.yaml", append([]loop.Option{
		loop.WithSource(w), loop.WithStore(s), loop.WithEffect(rules.EffectDecl{Name: "post", Doc: "Posts."}, w.post),
		loop.WithDeadline(3 * time.Second), loop.WithClock(func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }),
	}, more...)...)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return l
}

func newWorld() *world {
	return &world{calls: map[string]int{}, now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), left: -1}
}

// delivery is an event of a session, which may come again.
func delivery(id string) host.Event { return host.Event{ID: id, SessionID: "s"} }

// answer returns what a loop answered.
func answer(d *loop.Decision) string { return d.Verdict.Action.String() + " " + d.Verdict.Reason }

// deliveries tests that what comes twice is decided once.
func deliveries(t *testing.T, s loop.Store) {
	w := newWorld()
	run := func(id, want string, repeated bool) {
		t.Helper()
		d, err := w.process(t, s).Run(t.Context(), delivery(id))
		if err != nil || answer(d) != want || d.Repeated != repeated {
			t.Fatalf("%s: the answer is %q, repeated %t, error %v; want %q, %t", id, answer(d), d.Repeated, err, want, repeated)
		}
	}
	run("1", "continue n is 0", false)
	run("1", "continue n is 0", true)
	run("2", "continue n is 1", false)
	run("1", "continue n is 0", true)
	run("3", "continue n is 2", false)
	run("4", "stop ", false)
	w.n = 0 // the rule holds again
	run("4", "stop ", true)
	run("3", "continue n is 2", true)
	if len(w.calls) != 3 {
		t.Errorf("the effects are %v, want 3", w.calls)
	}
	for range 8 { // the loop keeps 8 answers
		w.n = 3
		run(fmt.Sprint("more ", w.now.Second()), "stop ", false)
		w.now = w.now.Add(time.Second)
	}
	run("4", "stop ", false)
	w.now = w.now.Add(25 * time.Hour)
	run("4", "stop ", false)
}

// crashes ends the process of a first delivery at each point, and delivers the event again.
func crashes(t *testing.T, open func(t *testing.T) loop.Store) {
	for at := 1; ; at++ {
		s, w := open(t), newWorld()
		w.left = at
		first := w.process(t, killed{s, w})
		_, _ = first.Run(t.Context(), delivery("1"))
		survived := w.left > 0
		w.left = -1
		w.now = w.now.Add(2 * time.Minute) // no claim lasts
		for range 2 {
			d, err := w.process(t, s).Run(t.Context(), delivery("1"))
			if err != nil || answer(d) != "continue n is 0" {
				t.Fatalf("killed at point %d: a later delivery gets %q, error %v", at, answer(d), err)
			}
		}
		if _, ok := s.(loop.Lister); !ok {
			_, _ = w.process(t, s).Run(t.Context(), host.Event{ID: "1", SessionID: "s"}) // the next event does it
		} else if left, err := w.process(t, s).Drain(t.Context()); left != 0 || err != nil {
			t.Errorf("killed at point %d: %d effects are left, error %v", at, left, err)
		}
		d := w.process(t, s).Preview(t.Context(), delivery("2"))
		if n := continuations(d); w.n != 1 || n != 1 || len(w.calls) != 1 {
			t.Errorf("killed at point %d: the fact is %d, the count %d, the effects are %v: each once", at, w.n, n, w.calls)
		}
		if survived {
			if at < 8 {
				t.Errorf("a decision has %d points, want at least 8", at)
			}
			return
		}
	}
}

// continuations is how many continuations the session has.
func continuations(d *loop.Decision) int { return d.Record(true).Streak.Total }

// lockers tests a store that can make others wait.
func lockers(t *testing.T, s loop.Store) {
	l, ok := s.(loop.Locker)
	if !ok {
		t.Skip("the store is no loop.Locker")
	}
	a, b := key("a"), key("b")
	held, unlock, err := l.Lock(t.Context(), a)
	if err != nil {
		t.Fatalf("Lock fails: %v", err)
	}
	saved := make(chan error)
	go func() {
		saved <- s.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: a, Memory: rules.Memory{Total: 9}}}})
	}()
	total(t, s, b, 2) // others do not wait
	total(t, held, a, 1)
	select {
	case err := <-saved:
		unlock()
		t.Fatalf("Save of another does not wait for the lock, and returns %v", err)
	default:
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := l.Lock(short, a); err == nil {
		t.Error("two hold the lock")
	}
	unlock()
	unlock()
	if err := <-saved; !errors.Is(err, loop.ErrConflict) {
		t.Errorf("Save that waited returns %v, want ErrConflict", err)
	}
	totals(t, s, []loop.Key{a, b}, 1, 2)
	_, unlock, err = l.Lock(t.Context(), b, a)
	if err != nil {
		t.Fatalf("Lock after unlock fails: %v", err)
	}
	unlock()
}

// tenants tests that scopes share nothing.
func tenants(t *testing.T, s loop.Store) {
	for _, tenant := range []string{"a", "b"} {
		w := newWorld()
		for _, want := range []string{"continue n is 0", "continue n is 0"} {
			d, err := w.process(t, s, loop.WithScope(tenant)).Run(t.Context(), delivery("1"))
			if err != nil || answer(d) != want || len(w.calls) != 1 {
				t.Errorf("the tenant %s gets %q, error %v, effects %v, want %q", tenant, answer(d), err, w.calls, want)
			}
		}
	}
}

// lists tests a store that can list what it keeps.
func lists(t *testing.T, s loop.Store) {
	l, ok := s.(loop.Lister)
	if !ok {
		t.Skip("the store is no loop.Lister")
	}
	scoped := func(scope, policy string) loop.Key {
		return loop.Key{Scope: scope, Root: "/" + policy, Policy: policy, Session: "s"}
	}
	save(t, s, loop.Entry{Key: scoped("", "p"), Memory: rules.Memory{Total: 1}}, loop.Entry{Key: scoped("x", "p"), Memory: rules.Memory{Total: 2}},
		loop.Entry{Key: scoped("", "q"), Memory: rules.Memory{Total: 3}, Pending: []loop.Call{{ID: "1"}}})
	for _, c := range []struct {
		filter loop.Filter
		want   int // the sum of the totals
	}{{loop.Filter{}, 4}, {loop.Filter{Scope: "x"}, 2}, {loop.Filter{Policy: "p"}, 1}, {loop.Filter{Root: "/q"}, 3}, {loop.Filter{Root: "/q", Policy: "p"}, 0}, {loop.Filter{Pending: true}, 3}, {loop.Filter{Policy: "p", Pending: true}, 0}} {
		got := 0
		for e, err := range l.List(t.Context(), c.filter) {
			if err != nil {
				t.Fatalf("List fails: %v", err)
			}
			if got += e.Memory.Total; e.Version != load(t, s, e.Key)[0].Version {
				t.Errorf("%+v is listed with the version %q", e.Key, e.Version)
			}
		}
		if got != c.want {
			t.Errorf("%+v lists entries with the total %d, want %d", c.filter, got, c.want)
		}
	}
}
