package temporal

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
)

// Options of a [Worker]. The zero value is a worker without a remote and without a watch.
type Options struct {
	Queue  string        // from which it takes runs; default: the name of the project's directory
	Remote string        // of the clone, to which the branches of runs are pushed; without one, no other worker can continue a run
	Agents int           // that work at the same time; default: 10
	Drain  time.Duration // that agents may take to finish when the worker ends; default: 10 minutes
	Watch  run.Watch     // from [run.Watched], which ends agents with the worker
}

// Worker carries out the commands of runs, in a clone of their project. Use [NewWorker] to make one.
type Worker struct {
	client  client.Client
	beat    func(ctx context.Context, token []byte) error // sends a heartbeat
	project *project.Project
	places  places
	options Options
	name    string // of its own task queue
	busy    runs
	over    context.Context // done once the time to drain is over
}

// errDrained is the cause of a context whose worker ends.
var errDrained = errors.New("the worker was ended during the attempt")

// NewWorker returns a worker for the runs of a project, whose directory must be the top of a git clone. What their policies run
// must be approved in the project. The client and the project stay the caller's to close.
func NewWorker(ctx context.Context, c client.Client, p *project.Project, o Options) (*Worker, error) {
	if c == nil || p == nil {
		return nil, errors.New("a worker needs a client of Temporal and a project")
	}
	places, err := openPlaces(ctx, p.Dir(), p.Trees(), o.Remote)
	if err != nil {
		return nil, err
	}
	if places.project != p.Dir() {
		return nil, fmt.Errorf("a worker needs the top of a clone, which is %s; got %s", places.project, p.Dir())
	}
	o.Queue = queueOf(o.Queue, p)
	o.Agents, o.Drain = cmp.Or(o.Agents, 10), cmp.Or(o.Drain, 10*time.Minute)
	name, err := nameOf(places)
	w := &Worker{client: c, project: p, places: places, options: o, name: name, over: context.WithoutCancel(ctx)}
	w.beat = func(ctx context.Context, token []byte) error { return c.RecordActivityHeartbeat(ctx, token) }
	return w, err
}

// queueOf returns the task queue of a project's runs.
func queueOf(queue string, p *project.Project) string { return cmp.Or(queue, filepath.Base(p.Dir())) }

// nameOf returns the name of the task queue of a place, which is the same each time that a worker starts there.
func nameOf(p places) (string, error) {
	file := filepath.Join(p.dir, "place")
	id, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		id = []byte(rand.Text())
		err = os.WriteFile(file, id, 0o600)
	}
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	sum := sha256.Sum256([]byte(string(id) + "\x00" + p.project))
	return host + "-" + hex.EncodeToString(sum[:6]), err
}

// Run takes runs until ctx is done: then it takes nothing new, lets agents finish for the time to drain, interrupts those that
// still work and reports their iterations as lost. An error means that it could not work, or that another worker has its place.
func (w *Worker) Run(ctx context.Context) error {
	leases, ok := loop.LocalStore(filepath.Dir(w.places.dir)).(loop.Leases)
	if !ok {
		return errors.New("the store of this machine has no leases")
	}
	release, holder, err := leases.Hold(ctx, "worker "+w.name, fmt.Sprint("process ", os.Getpid()))
	if err != nil {
		return err
	}
	if holder != "" {
		return fmt.Errorf("another worker works in this clone, %s: end it, or use another clone", holder)
	}
	defer release()
	if err := w.places.salvage(ctx, "*"); err != nil {
		return err
	}
	over, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	w.over = over
	failed := make(chan error, 2)
	o := worker.Options{
		WorkerStopTimeout: w.options.Drain + grace, OnFatalError: func(err error) { failed <- err },
		MaxConcurrentActivityExecutionSize: w.options.Agents,
	}
	own := worker.New(w.client, w.name, o)
	o.MaxConcurrentActivityTaskPollers = 1 // what a frozen worker takes has to be taken by another one
	shared := worker.New(w.client, w.options.Queue, o)
	shared.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
	shared.RegisterActivityWithOptions(w.settle, activity.RegisterOptions{Name: activitySettle})
	own.RegisterActivityWithOptions(w.do, activity.RegisterOptions{Name: activityDo})
	if err := own.Start(); err != nil {
		return err
	}
	if err = shared.Start(); err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	late := time.AfterFunc(w.options.Drain, func() { end(errDrained) })
	defer late.Stop()
	var stopped sync.WaitGroup
	stopped.Go(shared.Stop)
	stopped.Go(own.Stop)
	stopped.Wait()
	return err
}

// settle is the activity that makes this worker the place of a run. It returns the name of its task queue.
func (w *Worker) settle(ctx context.Context, run, base string, silence time.Duration) (string, error) {
	ctx, _, free, err := w.attempt(ctx, run, silence)
	if err != nil {
		return "", err
	}
	defer free()
	return w.name, w.places.settle(ctx, run, base)
}

// attempt begins an attempt at something for a run, once the server has confirmed that it waits for it and nothing else is done for
// the run here: a worker that was frozen may get what was given to another one since.
func (w *Worker) attempt(ctx context.Context, run string, silence time.Duration) (_ context.Context, alive <-chan struct{}, free func(), err error) {
	token := activity.GetInfo(ctx).TaskToken
	ctx, cancel := context.WithCancelCause(ctx)
	late := context.AfterFunc(w.over, func() { cancel(errDrained) })
	ctx, alive, stop := attend(ctx, silence/beats, func(ctx context.Context) error { return w.beat(ctx, token) })
	end := func() { stop(); late(); cancel(nil) }
	select {
	case <-alive:
		var turn func()
		if turn, err = w.busy.take(ctx, run); err == nil {
			return ctx, alive, func() { turn(); end() }, nil
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	end()
	return ctx, nil, nil, err
}

// do is the activity that carries out the command that is due. An error means that its outcome is unknown.
func (w *Worker) do(ctx context.Context, c Course) (Done, error) {
	ctx, alive, free, err := w.attempt(ctx, c.State.Plan.ID, c.Silence)
	if err != nil {
		return Done{}, err
	}
	defer free()
	done, err := w.carryOut(ctx, c, alive)
	if cause := context.Cause(ctx); errors.Is(cause, errGone) || errors.Is(cause, errDrained) {
		return Done{}, cause
	}
	if err != nil {
		done.Input = step.Input{Kind: step.NotStarted, Why: err.Error()}
	}
	return done, nil
}

// carryOut carries out the command. An error means that it was not started, and has no effects.
func (w *Worker) carryOut(ctx context.Context, c Course, alive <-chan struct{}) (done Done, err error) {
	s, id := c.State, c.State.Plan.ID
	if s.Due.Kind == step.Merge {
		done.Input.Kind = step.Merged
		return done, w.again(ctx, func() error { return w.places.merge(ctx, id, c.Commit) })
	}
	attempt := strings.TrimPrefix(s.Due.Key, id+"/")
	if s.Plan.Root, err = w.places.begin(ctx, id, attempt); err != nil {
		return done, err
	}
	r, err := w.project.Driven(ctx, s, c.Documents, s.Plan.Root, w.options.Watch.Within(c.Silence, alive))
	if err != nil {
		return done, errors.Join(err, w.places.remove(s.Plan.Root))
	}
	what := "what the policy wrote"
	switch s.Due.Kind {
	case step.Iterate:
		what = fmt.Sprintf("iteration %d of run %s", s.Iterations, id)
		done.Input = r.Iterate(ctx, s)
	case step.Await:
		done.Input = r.Await(ctx, s)
		return done, w.places.remove(s.Plan.Root)
	default:
		done.Input = r.Decide(ctx, s)
	}
	done.Documents = r.Documents()
	maps.DeleteFunc(done.Documents, func(name, _ string) bool { _, had := c.Documents[name]; return had })
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace/2)
	defer cancel()
	if done.Commit, err = w.places.keep(after, id, attempt, what); err != nil {
		done.Input = step.Input{Kind: step.Broken, Why: fmt.Sprintf("%s cannot be committed: %v", what, err)}
		return done, nil
	}
	_ = w.places.offer(after, id, done.Commit) // only for the case that this worker is gone before the merge
	return done, nil
}

// again tries what takes a network until it succeeds, for half of the time that a command has.
func (w *Worker) again(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, most/2)
	defer cancel()
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		err := try()
		if err == nil || w.places.remote == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// runs are those at which a worker works. Of each it carries out one command at a time: one that is lost may still end.
type runs struct {
	sync.Mutex
	free map[string]chan struct{} // of each that is worked at; closed once it is free
}

// take waits until the worker does nothing for a run.
func (r *runs) take(ctx context.Context, run string) (free func(), err error) {
	for {
		r.Lock()
		if r.free == nil {
			r.free = map[string]chan struct{}{}
		}
		wait, busy := r.free[run]
		if !busy {
			mine := make(chan struct{})
			r.free[run] = mine
			r.Unlock()
			return func() {
				r.Lock()
				delete(r.free, run)
				r.Unlock()
				close(mine)
			}, nil
		}
		r.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
