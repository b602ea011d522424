//go:build unix

package temporal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// server answers heartbeats.
type server struct {
	client.Client
	beat func() error
}

func (s server) RecordActivityHeartbeat(context.Context, []byte, ...any) error { return s.beat() }

// bench is a worker in a project, whose agent is a script of sh.
type bench struct {
	*Worker
	*testsuite.TestActivityEnvironment
	dir   string
	state run.State
	loop  *loop.Loop
}

func newBench(t *testing.T, script string, beat func() error) *bench {
	t.Helper()
	return onBench(t, loop.Map(), script, beat)
}

func onBench(t *testing.T, store loop.Store, script string, beat func() error) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), state: state(t, 9)}
	b.state.Plan.Args = []string{"sh", "-c", script}
	var err error
	b.loop, err = loop.Load(fstest.MapFS{"policy.yaml": {Data: []byte("ralph: 1\nrules: [{name: next, continue: go on}]\n")}}, "policy.yaml", loop.WithStore(store), loop.WithRoot(b.dir))
	if err != nil {
		t.Fatal(err)
	}
	b.Worker = &Worker{Client: server{beat: beat}, Open: func(context.Context, run.Plan) (Place, error) {
		return Place{Runner: &run.Runner{Loop: b.loop, Store: store, Env: func(string) string { return "" }}, Dir: b.dir}, nil
	}}
	var suite testsuite.WorkflowTestSuite
	b.TestActivityEnvironment = suite.NewTestActivityEnvironment()
	b.RegisterActivityWithOptions(b.decide, activity.RegisterOptions{Name: activityDecide})
	b.RegisterActivityWithOptions(b.iterate, activity.RegisterOptions{Name: activityIterate})
	return b
}

func (b *bench) do(name string, args ...any) (in run.Input, err error) {
	v, err := b.ExecuteActivity(name, args...)
	if err == nil {
		err = v.Get(&in)
	}
	return in, err
}

var start = run.Command{Kind: run.Iterate, Prompt: "go on", Timeout: time.Hour}

func heard() error { return nil }

// A decision is the policy's; an iteration runs the agent in the place.
func TestActivities(t *testing.T) {
	b := newBench(t, "cat >prompt; echo I did", heard)
	if in, err := b.do(activityDecide, b.state); err != nil || in.Decision.Outcome != rules.Continued || in.Decision.Reason != "go on" {
		t.Errorf("%+v, %v", in, err)
	}
	if in, err := b.do(activityIterate, b.state, start); err != nil || in.Kind != run.Iterated || in.Iteration.Outcome != run.OK || in.Iteration.Texts[0] != "I did" {
		t.Errorf("%+v, %v", in, err)
	}
	if got, err := os.ReadFile(filepath.Join(b.dir, "prompt")); err != nil || string(got) != "go on\n" {
		t.Errorf("the prompt is %q, %v", got, err)
	}
}

// holds is a store that says when somebody asks for a hold.
type holds struct {
	loop.Store
	asked chan struct{}
}

func (h holds) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if strings.HasPrefix(key, "hold/") {
		h.asked <- struct{}{}
	}
	return h.Store.Update(ctx, key, change)
}

// An iteration waits while another run holds the policy in the project.
func TestHeld(t *testing.T) {
	store := holds{loop.Map(), make(chan struct{}, 10)}
	b := onBench(t, store, "echo I did", heard)
	var done sync.WaitGroup
	err := b.loop.Hold(t.Context(), "policy", "other", func() error {
		<-store.asked // by this hold
		done.Go(func() {
			if in, err := b.do(activityIterate, b.state, start); err != nil || in.Iteration.Outcome != run.OK {
				t.Errorf("%+v, %v", in, err)
			}
		})
		<-store.asked
		<-store.asked // again
		return nil
	})
	if done.Wait(); err != nil {
		t.Error(err)
	}
}

// A place that cannot be prepared is tried again for a decision, and starts no agent.
func TestNoPlace(t *testing.T) {
	b := newBench(t, "exit 0", heard)
	b.Open = func(context.Context, run.Plan) (Place, error) { return Place{}, errors.New("no clone") }
	if _, err := b.do(activityDecide, b.state); err == nil || !strings.Contains(err.Error(), "the run cannot be prepared here: no clone") {
		t.Error(err)
	}
	if in, err := b.do(activityIterate, b.state, start); err != nil || in.Kind != run.NotStarted || !strings.Contains(in.Why, "no clone") {
		t.Errorf("%+v, %v", in, err)
	}
}

// What an iteration did and what cannot be kept is lost.
func TestNotKept(t *testing.T) {
	b := newBench(t, "exit 0", heard)
	open := b.Open
	b.Open = func(ctx context.Context, p run.Plan) (Place, error) {
		place, err := open(ctx, p)
		place.Keep = func(context.Context) error { return errors.New("no remote") }
		return place, err
	}
	if _, err := b.do(activityIterate, b.state, start); err == nil || !strings.Contains(err.Error(), "no remote") {
		t.Error(err)
	}
}

// The agent ends when the server no longer waits for it, and when a person cancels the run: then its interruption is the answer.
func TestBeats(t *testing.T) {
	b := newBench(t, "exec sleep 600", func() error { return serviceerror.NewNotFound("no such activity") })
	if _, err := b.do(activityIterate, b.state, start); err == nil || !strings.Contains(err.Error(), "no such activity") {
		t.Errorf("the activity is another's: %v", err)
	}
	b = newBench(t, "exec sleep 600", func() error { return sdk.NewCanceledError() })
	if in, err := b.do(activityIterate, b.state, start); err != nil || in.Iteration.Outcome != run.Interrupted {
		t.Errorf("cancelled: %+v, %v", in, err)
	}
}

// A server that is not reached for a moment does no harm; one that is not reached for as long as it waits counts the activity as lost.
func TestNoNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beats, last := 0, time.Now()
		ctx, stop := beating(t.Context(), time.Minute, func(context.Context) error {
			if beats++; beats <= 10 && beats%3 == 0 {
				last = time.Now()
				return nil
			}
			return errors.New("unreachable")
		})
		defer stop()
		<-ctx.Done()
		if took := time.Since(last); beats <= 10 || took >= time.Minute || context.Cause(ctx) != errSilent {
			t.Errorf("it ended after %d beats, %v after the last one that was heard: %v", beats, took, context.Cause(ctx))
		}
	})
}
