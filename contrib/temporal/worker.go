package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/run"
)

// Worker carries out decisions and iterations on this machine. Both fields are required. It is safe for concurrent use if Open is.
type Worker struct {
	Client client.Client // sends heartbeats

	// Open prepares a run on this machine, before each decision and each iteration. An error is tried again for a decision; before an
	// iteration it ends the run as failed.
	Open func(ctx context.Context, p run.Plan) (Place, error)
}

// Place is where a run works on this machine.
type Place struct {
	Runner *run.Runner                     // with its Loop, Store and Env
	Dir    string                          // where the agent works; "" is that of the plan
	Keep   func(ctx context.Context) error // keeps what an iteration did, if it is not nil; an error means that it is lost
}

// Register adds the workflow and its activities to a worker of the SDK, which the program makes, starts and stops. An iteration that has not
// ended at worker.Options.WorkerStopTimeout after the stop is lost.
func (w *Worker) Register(r worker.Registry) {
	r.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
	r.RegisterActivityWithOptions(w.decide, activity.RegisterOptions{Name: activityDecide})
	r.RegisterActivityWithOptions(w.iterate, activity.RegisterOptions{Name: activityIterate})
}

// Start starts the workflow of a run, whose ID is that of its plan, on a task queue of workers. A state that has ended is resumed. The error
// is that the run has an open workflow, or for a new state any.
func Start(ctx context.Context, c client.Client, queue string, course Course) (client.WorkflowRun, error) {
	reuse := enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	if course.State.End != nil {
		reuse = enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	}
	return c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: course.State.Plan.ID, TaskQueue: queue, WorkflowIDReusePolicy: reuse, WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, WorkflowType, course)
}

// decide is the activity of a decision. One that is made again counts once.
func (w *Worker) decide(ctx context.Context, s run.State) (run.Input, error) {
	ctx, stop := w.alive(ctx)
	defer stop()
	p, err := w.open(ctx, &s)
	if err != nil {
		return run.Input{}, err
	}
	in := p.Runner.Decide(ctx, s)
	return in, ended(ctx)
}

// iterate is the activity of an iteration. Its run holds the policy in the project meanwhile, so that the agent's own hook does not continue
// it. It waits while another run does: that may be this one, on a worker that was frozen and does not know yet that its iteration is lost.
func (w *Worker) iterate(ctx context.Context, s run.State, cmd run.Command) (in run.Input, err error) {
	ctx, stop := w.alive(ctx)
	defer stop()
	p, err := w.open(ctx, &s)
	hold := func() error {
		return p.Runner.Loop.Hold(ctx, s.Plan.Holds(), s.Plan.ID, func() error {
			in = p.Runner.Iterate(ctx, s, cmd)
			return nil
		})
	}
	for again := err == nil; again; again = errors.Is(err, fs.ErrExist) && ctx.Err() == nil {
		err = hold()
	}
	switch {
	case ended(ctx) != nil:
		return in, ended(ctx)
	case err != nil && in.Kind == "":
		return run.Input{Kind: run.NotStarted, Why: err.Error()}, nil
	case err == nil && in.Kind == run.Iterated && p.Keep != nil:
		err = p.Keep(context.WithoutCancel(ctx))
	}
	return in, err
}

func (w *Worker) open(ctx context.Context, s *run.State) (Place, error) {
	p, err := w.Open(ctx, s.Plan)
	if err != nil {
		return p, fmt.Errorf("the run cannot be prepared here: %w", err)
	}
	if p.Dir != "" {
		s.Plan.Dir = p.Dir
	}
	return p, nil
}

// errSilent is why an activity ends of which the server has not heard for too long.
var errSilent = errors.New("the server was not reached for so long that it counts this as lost")

// alive is beating for the activity of a context.
func (w *Worker) alive(ctx context.Context) (context.Context, func()) {
	info := activity.GetInfo(ctx)
	return beating(ctx, cmp.Or(info.HeartbeatTimeout, silence), func(ctx context.Context) error {
		return w.Client.RecordActivityHeartbeat(ctx, info.TaskToken)
	})
}

// beating sends heartbeats until stop is called. The context that it returns ends when a person cancels the run, when the server no longer
// waits for the activity, when it has not heard of it for the time after which that counts as lost, and when the worker has stopped.
func beating(ctx context.Context, silence time.Duration, beat func(context.Context) error) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	every := silence / 6
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for last := time.Now(); ctx.Err() == nil; {
			once, done := context.WithTimeout(ctx, every)
			err := beat(once)
			done()
			switch gone := (*serviceerror.NotFound)(nil); {
			case err == nil:
				last = time.Now()
			case errors.As(err, &gone), sdk.IsCanceledError(err):
				cancel(err)
			case time.Since(last) > silence-2*every:
				cancel(errSilent)
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// ended returns why an activity is lost. A run that a person cancelled is not: its agent was interrupted, and that is the answer.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !sdk.IsCanceledError(cause) {
		return sdk.NewNonRetryableApplicationError(cause.Error(), "lost", cause)
	}
	return nil
}
