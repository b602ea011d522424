package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/run"
)

const waitPolicy = `ralph: 1
rules:
  - {name: enough, when: run.iteration >= 2, stop: two are enough}
  - {name: ci, when: run.iteration == 1, wait: CI is running, until: 'exists("done")', every: 1m, for: 30m}
  - {name: late, when: waited, stop: CI takes too long}
  - {name: next, continue: Go on}
`

// waitRun is a run of waitPolicy in a bubble, which begins at the same time.
type waitRun struct {
	dir, state string
	log        looptest.Records
	looks      int // how often until was evaluated
}

func (w *waitRun) runner(t *testing.T, opts ...run.Option) *run.Runner {
	t.Helper()
	a := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) { return run.Result{}, nil })
	count := loop.WithObserver(func(ctx context.Context, _ host.Event) (context.Context, func(*loop.Decision)) {
		return ctx, func(d *loop.Decision) {
			if d.Verdict == nil { // Awaits decides nothing
				w.looks++
			}
		}
	})
	opts = append([]run.Option{run.WithDir(w.dir), run.WithStore(loop.LocalStore(w.state), ""), run.WithLoop(loop.WithRecorder(&w.log), count)}, opts...)
	r, err := run.New(load(t, waitPolicy), a, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A run waits without an agent, and records only the decisions that begin and end the wait.
func TestWait(t *testing.T) {
	start := []string{"run_start", "verdict continue next", "iteration_start 1", "iteration_end 1 ok", "verdict 1 wait ci", "waiting 1"}
	for _, tt := range []struct {
		name    string
		done    time.Duration // when CI is done; 0 is never
		limit   time.Duration // of the run
		want    []string      // after start
		took    time.Duration
		records int
		looks   int
	}{
		{"until is true", 150 * time.Second, 0, []string{"verdict 1 continue next", "iteration_start 2", "iteration_end 2 ok", "verdict 2 stop enough", "run_end enough stopped"}, 3 * time.Minute, 4, 3},
		{"for is over", 0, 0, []string{"verdict 1 stop late", "run_end late stopped"}, 30 * time.Minute, 3, 29},
		{"the time of the run is over", 0, 150 * time.Second, []string{"run_end ci waiting"}, 150 * time.Second, 2, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &waitRun{}
			w.dir, w.state = project(t)
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				if tt.done > 0 {
					time.AfterFunc(tt.done, func() { _ = os.WriteFile(filepath.Join(w.dir, "done"), nil, 0o600) })
				}
				_, got := all(t, t.Context(), w.runner(t, run.WithLimits(run.Limits{Elapsed: tt.limit})))
				if diff := cmp.Diff(append(start[:len(start):len(start)], tt.want...), got); diff != "" {
					t.Errorf("events (-want +got)\n%s", diff)
				}
				if took := time.Since(begin); took != tt.took || len(w.log.All()) != tt.records || w.looks != tt.looks {
					t.Errorf("after %s, with %d records and %d looks; want %s, %d, %d", took, len(w.log.All()), w.looks, tt.took, tt.records, tt.looks)
				}
			})
		})
	}
}

// A run that was killed while it waited continues waiting with the time that is left. One that ended begins another turn, in
// which the policy decides first.
func TestResumedWait(t *testing.T) {
	w := &waitRun{}
	w.dir, w.state = project(t)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := w.runner(t)
		path := filepath.Join(w.state, "runs", r.ID()+".json")
		var kept []byte
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for ev := range r.Run(ctx) {
			if ev.Kind == run.Waiting {
				info, err := run.Find(t.Context(), loop.LocalStore(w.state), "", r.ID())
				if err != nil || info.Waiting != "CI is running" || !info.Until.Equal(begin.Add(30*time.Minute)) {
					t.Errorf("while it waits it is %+v (%v)", info, err)
				}
				if kept, err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(10*time.Minute, cancel)
			}
		}
		info, err := run.Find(t.Context(), loop.LocalStore(w.state), "", r.ID())
		if err != nil || info.Ended != run.Cancelled {
			t.Errorf("interrupted it is %+v (%v)", info, err)
		}
		ended, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			state []byte
			want  []string
			took  time.Duration // since begin
		}{
			{kept, []string{"run_resume", "waiting 1", "verdict 1 stop late", "run_end late stopped"}, 30 * time.Minute},
			{ended, []string{"run_resume", "verdict 1 wait ci", "waiting 1", "verdict 1 stop late", "run_end late stopped"}, 60 * time.Minute},
		} {
			if err := os.WriteFile(path, tt.state, 0o600); err != nil {
				t.Fatal(err)
			}
			_, got := all(t, t.Context(), w.runner(t, run.Resume(r.ID())))
			if diff := cmp.Diff(tt.want, got); diff != "" || time.Since(begin) != tt.took {
				t.Errorf("after %s, events (-want +got)\n%s", time.Since(begin), diff)
			}
		}
	})
}

// A pause is no end of the wait: no fact is gathered until a person resumes the loop, and then the policy decides again.
func TestPausedWait(t *testing.T) {
	w := &waitRun{}
	w.dir, w.state = project(t)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		control := func() run.Control {
			if since := time.Since(begin); since > 90*time.Second && since < 5*time.Minute {
				return run.Pause
			}
			return run.GoOn
		}
		var got []string
		for ev := range w.runner(t, run.WithControl(control)).Run(t.Context()) {
			if ev.Kind == run.Waiting {
				got = append(got, fmt.Sprint(time.Since(begin).Round(time.Minute), " ", ev.Until != nil, " ", w.looks))
			}
		}
		if diff := cmp.Diff([]string{"0s true 0", "2m0s false 1", "5m0s true 1"}, got); diff != "" {
			t.Errorf("waits (-want +got)\n%s", diff)
		}
	})
}
