package run_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/run"
)

// stores returns what runs can be kept in: files of ralph, and any other store.
func stores(t *testing.T) map[string]loop.Store {
	return map[string]loop.Store{"files": loop.LocalStore(t.TempDir()), "another": loop.InMemory()}
}

// ordersIn returns what persons order in a store.
func ordersIn(t *testing.T, s loop.Store, scope string) store.Orders {
	return store.OrdersAt(t.Context(), s.(loop.Documents), loop.ErrConflict, scope)
}

// A run in a store is seen by all that share the store and the scope, ends when a person stops it there, and is resumed by
// another process. In another scope there is no run.
func TestStore(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			dir, _ := project(t)
			orders := ordersIn(t, s, "tenant")
			during := func(r *run.Runner) {
				for scope, want := range map[string]string{"tenant": r.ID(), "": "", "another": ""} {
					if live, err := run.Live(t.Context(), s, scope, dir, "policy.yaml"); live != want || err != nil {
						t.Errorf("in the scope %q %q is live, error %v; want %q", scope, live, err, want)
					}
					infos, err := run.List(t.Context(), s, scope, dir)
					if len(infos) > 0 != (want != "") || err != nil || len(infos) > 0 && !infos[0].Running {
						t.Errorf("in the scope %q there are %+v, error %v", scope, infos, err)
					}
				}
				l, err := loop.New(load(t, endless), loop.WithStore(s), loop.WithScope("tenant"), loop.WithRoot(dir), loop.WithName("policy.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil || !strings.Contains(d.Verdict.Reason, r.ID()) {
					t.Errorf("a session in a run: %q, error %v", d.Verdict.Reason, err)
				}
				if err := orders.EndRun(r.ID(), true); err != nil {
					t.Fatal(err)
				}
			}
			agent := func(r **run.Runner) run.Adapter {
				return run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) {
					during(*r)
					return run.Result{}, nil
				})
			}
			var r, again *run.Runner
			var err error
			if r, err = run.New(load(t, endless), agent(&r), run.WithDir(dir), run.WithStore(s, "tenant")); err != nil {
				t.Fatal(err)
			}
			events, _ := all(t, t.Context(), r)
			if last := events[len(events)-1]; last.Ended != run.Cancelled || last.Why != "the run was stopped" || last.Totals.Iterations != 1 {
				t.Errorf("stopped in the store it ends with %+v", last)
			}
			if again, err = run.New(load(t, endless), agent(&again), run.WithStore(s, "tenant"), run.Resume(r.ID())); err != nil {
				t.Fatal(err)
			}
			events, _ = all(t, t.Context(), again)
			if last := events[len(events)-1]; last.Ended != run.Cancelled || last.Totals.Iterations != 2 {
				t.Errorf("resumed it ends with %+v", last)
			}
			info, err := run.Find(t.Context(), s, "tenant", r.ID())
			if err != nil || info.Running || info.Ended != run.Cancelled || info.Totals.Iterations != 2 {
				t.Errorf("it is kept as %+v, error %v", info, err)
			}
			if _, err := run.New(load(t, endless), agent(&again), run.WithStore(s, ""), run.Resume(r.ID())); err == nil || !strings.Contains(err.Error(), "no run has this ID") {
				t.Errorf("resumed in another scope: %v", err)
			}
		})
	}
}

// What a person pauses and hints in the store of a run counts for the run, memory that loops of the project share is there,
// and so are its records.
func TestStoreOfALoop(t *testing.T) {
	const policy = `ralph: 1
limits: {repeats: 2}
rules:
  - {name: first, when: "true", unless_repeated: {times: 2, per: project}, continue: the first}
  - {name: enough, stop: enough}
`
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			dir, _ := project(t)
			orders, kept := ordersIn(t, s, "tenant"), recording{s, s.(loop.Documents), s.(loop.Leases), new(looptest.Records)}
			hint := func(all []store.Hint) []store.Hint { return append(all, store.Hint{Text: "mind the gap"}) }
			if err := orders.ChangeHints(t.Context(), dir, hint); err != nil {
				t.Fatal(err)
			}
			if _, err := orders.Pause(dir, store.Pause{Policy: "policy.yaml"}); err != nil {
				t.Fatal(err)
			}
			var prompts []string
			a := run.Func("mine", func(_ context.Context, i run.Invocation) (run.Result, error) {
				prompts = append(prompts, strings.Join(strings.Fields(i.Prompt), " "))
				return run.Result{}, nil
			})
			synctest.Test(t, func(t *testing.T) {
				var waits []string
				for range 2 { // the second one shares the project's memory
					r, err := run.New(load(t, policy), a, run.WithDir(dir), run.WithStore(kept, "tenant"))
					if err != nil {
						t.Fatal(err)
					}
					for ev := range r.Run(t.Context()) {
						if ev.Kind == run.Waiting {
							waits = append(waits, ev.Why)
							if _, err := orders.Resume(dir, store.Pause{Policy: "policy.yaml"}); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				want := []string{"the first ## Hint from the user mind the gap", "the first"}
				if diff := cmp.Diff(want, prompts); diff != "" {
					t.Errorf("prompts (-want +got)\n%s", diff)
				}
				if len(waits) != 1 || !strings.Contains(waits[0], "paused") {
					t.Errorf("it waits %q", waits)
				}
			})
			var scopes []string
			for _, r := range kept.records.All() {
				scopes = append(scopes, r.Scope+" "+r.Rule)
			}
			if diff := cmp.Diff([]string{"tenant first", "tenant first", "tenant enough", "tenant enough"}, scopes); diff != "" {
				t.Errorf("records (-want +got)\n%s", diff)
			}
		})
	}
}

type recording struct {
	loop.Store
	loop.Documents
	loop.Leases
	records *looptest.Records
}

func (s recording) Record(ctx context.Context, r *loop.Record) error { return s.records.Record(ctx, r) }

// changing is a store that answers otherwise once it is changed.
type changing struct {
	loop.Store
	loop.Documents
	loop.Leases
	lost  atomic.Bool
	lease *string // who has the leases
	hangs bool
}

func newChanging() *changing {
	s := loop.InMemory()
	return &changing{Store: s, Documents: s.(loop.Documents), Leases: s.(loop.Leases)}
}

func (s *changing) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	if s.hangs {
		<-ctx.Done()
	}
	entries, err := s.Store.Load(ctx, keys...)
	for i, k := range keys {
		if k.Kind == "" && k.Name != "" && s.lease != nil {
			entries[i].Version = *s.lease
		}
	}
	if s.lost.Load() {
		err = errors.Join(errors.New("the store is gone"), err)
	}
	return entries, err
}

// A run that does not know what a person wants, or that another process continues, ends and starts no agent.
func TestStoreLost(t *testing.T) {
	another := "another"
	for _, tt := range []struct {
		name   string
		during func(t *testing.T, s *changing, id string)
		want   string
	}{
		{"the store is gone", func(_ *testing.T, s *changing, _ string) { s.lost.Store(true) }, "it is not known whether the run is stopped or paused: the store is gone"},
		{"its lease is another's", func(_ *testing.T, s *changing, _ string) { s.lease = &another }, "the run no longer holds its lease in the store"},
		{"its lease is free", func(_ *testing.T, s *changing, _ string) { s.lease = new(string) }, "the run no longer holds its lease in the store"},
		{"another process has saved it", func(t *testing.T, s *changing, id string) {
			orders := ordersIn(t, s, "")
			line, err := orders.LoadRun(id)
			if err == nil {
				err = orders.SaveRun(t.Context(), id, append(line, ' '), line)
			}
			if err != nil {
				t.Error(err)
			}
		}, "another process continues the run, so it ends in this one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := project(t)
			var r *run.Runner
			s := newChanging()
			a := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) {
				tt.during(t, s, r.ID())
				return run.Result{}, nil
			})
			var err error
			if r, err = run.New(load(t, endless), a, run.WithDir(dir), run.WithStore(s, "")); err != nil {
				t.Fatal(err)
			}
			events, _ := all(t, t.Context(), r)
			if last := events[len(events)-1]; last.Ended != run.Failed || !strings.HasPrefix(last.Why, tt.want) || last.Totals.Iterations != 1 {
				t.Errorf("it ends with %+v; want %q", last, tt.want)
			}
		})
	}
}

// What is not known while a run waits is asked before anything starts.
func TestStoreGoneForAWhile(t *testing.T) {
	dir, _ := project(t)
	s := newChanging()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		a := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) {
			if n++; n == 1 {
				return run.Result{Outcome: run.RateLimited}, nil
			}
			return run.Result{}, nil
		})
		r, err := run.New(load(t, endless), a, run.WithDir(dir), run.WithStore(s, ""), run.WithLimits(run.Limits{Iterations: 2}))
		if err != nil {
			t.Fatal(err)
		}
		var last run.Event
		for last = range r.Run(t.Context()) {
			if last.Kind == run.Waiting {
				s.lost.Store(true)
				time.AfterFunc(5*time.Second, func() { s.lost.Store(false) })
			}
		}
		if last.Ended != run.AtLimit || n != 2 {
			t.Errorf("after %d iterations it ends with %+v", n, last)
		}
	})
}

// A run that is cancelled does not wait for a store that does not answer.
func TestStoreHangs(t *testing.T) {
	dir, _ := project(t)
	s := newChanging()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) {
			s.hangs = true
			time.AfterFunc(3*time.Second, cancel)
			return run.Result{}, nil
		})
		r, err := run.New(load(t, endless), a, run.WithDir(dir), run.WithStore(s, ""))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		events, _ := all(t, ctx, r)
		if last := events[len(events)-1]; last.Ended != run.Cancelled || time.Since(start) != 3*time.Second {
			t.Errorf("after %s it ends with %+v", time.Since(start), last)
		}
	})
}
