package run_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// Nil is refused, and the error says what to do instead.
func TestOptionsOfNil(t *testing.T) {
	dir, _ := project(t)
	for _, tt := range []struct {
		option run.Option
		want   string
	}{
		{nil, "option 1 of 1 of the run is nil: leave it out"},
		{run.WithArgs(), "run.WithArgs has no value: name the program of the agent, or leave it out for a function"},
		{run.WithName(""), "run.WithName has no value: leave it out for the program's file name"},
		{run.WithDir(""), "run.WithDir has no value: leave it out for the working directory"},
		{run.WithHome(""), "run.WithHome has no value: leave it out for the project in which the agent works"},
		{run.WithFiles(""), "run.WithFiles has no value: leave it out for the project that lists the run"},
		{run.WithPrompt(""), "run.WithPrompt has no value: leave it out for the policy's continue text"},
		{run.WithSaid(""), "run.WithSaid has no value: leave it out if the policy alone ends the run"},
		{run.WithIteration(0), "the time of an iteration must be positive; got 0s"},
		{run.WithLabels(nil), "run.WithLabels has no value: leave it out, or give a map, which may be empty"},
		{run.WithStore(nil, ""), "run.WithStore has no value: name one, such as loop.LocalStore(dir), or leave it out to keep nothing"},
		{run.WithStore(struct{ loop.Store }{loop.InMemory()}, ""), "this store keeps no documents: use one that has loop.Documents"},
		{run.WithStore(struct {
			loop.Store
			loop.Documents
		}{loop.InMemory(), loop.InMemory().(loop.Documents)}, ""), "this store has no leases: use one that has loop.Leases"},
		{run.WithLoop(nil), "the loop of the run: option 1 of 5 is nil: leave it out"},
		{run.WithEnv(nil), "run.WithEnv has no value: leave it out for the environment of the process, or give an empty list for none"},
		{run.WithClock(nil), "run.WithClock has no value: leave it out for time.Now"},
		{run.WithInterrupt(nil), "run.WithInterrupt has no value: leave it out if nothing interrupts the run"},
		{run.WithControl(nil), "run.WithControl has no value: leave it out if nothing pauses or ends the run"},
		{run.Resume(""), "run.Resume has no value: name the ID of a run, see run.List"},
	} {
		_, err := run.New(load(t, policy), run.Func("mine", ends), tt.option)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	_, err := run.New(load(t, policy), run.Func("mine", nil), run.WithDir(dir))
	if want := "the agent mine has no function: give one to run.Func"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// ends is an agent that ends well.
func ends(context.Context, run.Invocation) (run.Result, error) {
	return run.Result{Outcome: run.OK}, nil
}

// The options of two libraries add up, or restrict further; none replaces another.
func TestOptionsTwice(t *testing.T) {
	const again = "ralph: 1\nrules: [{name: again, continue: go on}]\n"
	dir, state := project(t)
	limits := func(l run.Limits) run.Option { return run.WithLimits(l) }
	control := func(c run.Control) run.Option { return run.WithControl(func() run.Control { return c }) }
	interrupt, closed := make(chan struct{}), make(chan struct{})
	close(closed)
	for _, tt := range []struct {
		name string
		a, b run.Option
		want string // the error, or how the run ends
	}{
		{"WithArgs", run.WithArgs("a"), run.WithArgs("b"), "run.WithArgs is given twice"},
		{"WithName", run.WithName("a"), run.WithName("b"), "run.WithName is given twice"},
		{"WithDir", run.WithDir(dir), run.WithDir(dir), "run.WithDir is given twice"},
		{"WithHome", run.WithHome(dir), run.WithHome(dir), "run.WithHome is given twice"},
		{"WithFiles", run.WithFiles(dir), run.WithFiles(dir), "run.WithFiles is given twice"},
		{"WithPrompt", run.WithPrompt("a"), run.WithPrompt("b"), "run.WithPrompt is given twice"},
		{"WithSaid", run.WithSaid("a"), run.WithSaid("b"), "run.WithSaid is given twice"},
		{"WithStore", run.WithStore(loop.LocalStore(state), ""), run.WithStore(loop.LocalStore(state), ""), "run.WithStore is given twice"},
		{"WithEnv", run.WithEnv([]string{}), run.WithEnv([]string{}), "run.WithEnv is given twice"},
		{"WithClock", run.WithClock(time.Now), run.WithClock(time.Now), "run.WithClock is given twice"},
		{"WithInterrupt", run.WithInterrupt(interrupt), run.WithInterrupt(closed), "run.WithInterrupt is given twice"},
		{"Resume", run.Resume("a"), run.Resume("b"), "run.Resume is given twice"},
		{"WithAnswer", run.WithAnswer("a"), run.WithAnswer("b"), "run.WithAnswer is given twice"},
		{"WithLabels", run.WithLabels(map[string]string{"a": "1"}), run.WithLabels(map[string]string{"a": "2"}), `run.WithLabels has "a" twice`},
		{"WithLoop", run.WithLoop(loop.WithScope("a")), run.WithLoop(loop.WithScope("b")), "the loop of the run: loop.WithScope is given twice"},
		{"WithLoop and the store", run.WithStore(loop.InMemory(), "a"), run.WithLoop(loop.WithScope("a")), "the loop of the run: loop.WithScope is given twice"},
		{"WithLoop and the run", run.WithName("a"), run.WithLoop(loop.WithName("b")), "the loop of the run: loop.WithName is given twice"},

		{"WithLabels", run.WithLabels(map[string]string{"a": "1"}), run.WithLabels(map[string]string{"b": "1"}), "limit: 1 of 1 iterations"},
		{"WithLoop", run.WithLoop(loop.WithScope("a")), run.WithLoop(loop.WithPrivate()), "limit: 1 of 1 iterations"},
		{"WithLimits", limits(run.Limits{Iterations: 3, Tokens: 5}), limits(run.Limits{Iterations: 2}), "limit: 1 of 1 iterations"},
		{"WithLimits", limits(run.Limits{Elapsed: time.Hour}), limits(run.Limits{Elapsed: 1}), "limit: the run has taken"},
		{"WithIteration", run.WithIteration(time.Hour), run.WithIteration(time.Minute), "limit: 1 of 1 iterations"},
		{"WithControl", control(run.GoOn), control(run.Leave), "interrupted: the run was stopped"},
		{"WithControl", control(run.Leave), control(run.Pause), "interrupted: the run was stopped"},
		{"WithContinue", run.WithContinue(), run.WithContinue(), "limit: 1 of 1 iterations"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, o := range []run.Option{tt.a, tt.b} { // an option may be used again, and then does the same
				_, _ = run.New(load(t, again), run.Func("mine", ends), run.WithLimits(run.Limits{Elapsed: 1}), o)
			}
			got, opts := "", []run.Option{tt.a, tt.b, run.WithLimits(run.Limits{Iterations: 1})}
			if tt.name != "WithDir" {
				opts = append(opts, run.WithDir(t.TempDir()))
			}
			r, err := run.New(load(t, again), run.Func("mine", ends), opts...)
			if err != nil {
				got = err.Error()
			} else {
				events, _ := all(t, t.Context(), r)
				last := events[len(events)-1]
				got = string(last.Ended) + ": " + last.Why
			}
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
