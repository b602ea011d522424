package run_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/runtest"
)

func TestFuncIsAnAdapter(t *testing.T) {
	a := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) { return run.Result{}, nil })
	for _, args := range [][]string{nil, {"mine", "--fast"}} {
		runtest.Adapter(t, a, args, runtest.Stream{Name: "a stream", Stdout: []byte("text\n")})
	}
}

// An agent in Go gets prompts and sessions, and its results and errors are those of iterations.
func TestFunc(t *testing.T) {
	dir, state := project(t)
	cost := 0.5
	var got []run.Invocation
	results := []func() (run.Result, error){
		func() (run.Result, error) {
			return run.Result{Text: "a\xff", Session: "s-1", Tokens: 5, Cost: &cost}, nil
		},
		func() (run.Result, error) { return run.Result{}, errors.New("no connection") },
		func() (run.Result, error) {
			return run.Result{Outcome: run.RateLimited, Session: "s-2"}, errors.New("slow down")
		},
		func() (run.Result, error) { panic("broken") },
		func() (run.Result, error) { runtime.Goexit(); return run.Result{}, nil },
	}
	a := run.Func("mine", func(_ context.Context, i run.Invocation) (run.Result, error) {
		got = append(got, i)
		return results[len(got)-1]()
	})
	r, err := run.New(load(t, endless), a, run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.WithContinue(), run.WithLimits(run.Limits{Tokens: 100, Iterations: len(results)}), run.Hasty())
	if err != nil {
		t.Fatal(err)
	}
	var ends []string
	for ev := range r.Run(t.Context()) {
		if ev.Kind == run.IterationEnd {
			ends = append(ends, string(ev.Outcome)+": "+ev.Problem)
		}
	}
	want := []string{"ok: ", "crashed: no connection", "rate_limited: slow down", "crashed: the agent panicked: broken", "crashed: the agent ended its goroutine"}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Errorf("iterations (-want +got)\n%s", diff)
	}
	root := got[0].Dir
	first := run.Invocation{Args: []string{"mine"}, Dir: root}
	for i, prompt := range []string{"step 1", "step 2", "step 3", "step 3", "step 4"} {
		want := first
		want.Prompt = prompt
		if i == 1 {
			want.Session = "s-1"
		}
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("call %d (-want +got)\n%s", i+1, diff)
		}
	}
}

// A call that does not return cannot be ended: the run ends, and does not start another one beside it.
func TestFuncThatHangs(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(ctx context.Context, forever chan struct{}) error
		want string
	}{
		"it obeys":     {func(ctx context.Context, _ chan struct{}) error { <-ctx.Done(); return ctx.Err() }, "iteration_end 1 timeout"},
		"it does not":  {func(_ context.Context, forever chan struct{}) error { <-forever; return nil }, "run_end failed"},
		"it is late":   {func(ctx context.Context, _ chan struct{}) error { <-ctx.Done(); return nil }, "iteration_end 1 timeout"},
		"it is a lie ": {func(context.Context, chan struct{}) error { return context.Canceled }, "iteration_end 1 crashed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			forever := make(chan struct{})
			defer close(forever)
			var calls atomic.Int32
			a := run.Func("mine", func(ctx context.Context, _ run.Invocation) (run.Result, error) {
				calls.Add(1)
				return run.Result{}, c.f(ctx, forever)
			})
			r, err := run.New(load(t, endless), a, run.WithDir(t.TempDir()), run.WithIteration(10*time.Millisecond), run.WithLimits(run.Limits{Iterations: 1}), run.Hasty())
			if err != nil {
				t.Fatal(err)
			}
			_, lines := all(t, t.Context(), r)
			if !slices.Contains(lines, c.want) || calls.Load() != 1 {
				t.Errorf("%s: %d calls\n%s", name, calls.Load(), strings.Join(lines, "\n"))
			}
		})
	}
}

// A Runner runs once, whether it is used again at the same time or later.
func TestRunnerRunsOnce(t *testing.T) {
	dir, _ := project(t)
	r, err := run.New(load(t, policy), run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) { return run.Result{}, nil }), run.WithDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		if _, lines := all(t, t.Context(), r); !slices.Equal(lines, []string{"run_end failed"}) {
			t.Errorf("used again: %q", lines)
		}
	}
	n := 0
	for range r.Run(t.Context()) {
		again()
		n++
	}
	again()
	if n < 5 {
		t.Errorf("it has %d events", n)
	}
}

// What a program passes by mistake is an error, not a panic.
func TestMistakes(t *testing.T) {
	dir, state := project(t)
	p, agent := load(t, policy), run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) { return run.Result{}, nil })
	for name, c := range map[string]struct {
		program *rules.Program
		adapter run.Adapter
		opts    []run.Option
	}{
		"no program":        {nil, agent, nil},
		"a zero program":    {&rules.Program{}, agent, nil},
		"no adapter":        {p, nil, nil},
		"an adapter of ''":  {p, run.Func("", nil), nil},
		"no such directory": {p, agent, []run.Option{run.WithHome(dir + "/nosuch")}},
	} {
		if _, err := run.New(c.program, c.adapter, append([]run.Option{run.WithDir(dir)}, c.opts...)...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	good := func(opts ...run.Option) *run.Runner {
		r, err := run.New(p, run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) { panic("boom") }), append(opts, run.WithDir(dir))...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var none context.Context
	for name, r := range map[string]*run.Runner{"nil": nil, "zero": {}, "no context": good()} {
		if events, _ := all(t, none, r); len(events) != 1 || events[0].Ended != run.Failed || events[0].Why == "" {
			t.Errorf("%s: %+v", name, events)
		}
	}
	if events, _ := all(t, t.Context(), good(run.Hasty())); events[len(events)-1].Ended != run.TooManyFail {
		t.Errorf("a function that panics ends with %+v", events[len(events)-1])
	}
	for _, a := range append(run.Clients(), run.ClientOf(nil), run.Func("", nil)) {
		_, _ = a.Command(run.Invocation{})
		a.Output().Line(nil)
		a.Output().Result(run.Process{})
	}
	for _, dir := range []string{"", state, dir + "/nosuch"} {
		for _, id := range []string{"", "x", "../x"} {
			if _, err := run.Find(t.Context(), loop.LocalStore(dir), "", id); err == nil {
				t.Errorf("there is a run %q in %q", id, dir)
			}
		}
		if infos, _ := run.List(t.Context(), loop.LocalStore(dir), "", ""); len(infos) > 0 {
			t.Errorf("runs in %q", dir)
		}
		if id, _ := run.Live(t.Context(), loop.LocalStore(dir), "", "", ""); id != "" {
			t.Errorf("run %s is under way in %q", id, dir)
		}
	}
}
