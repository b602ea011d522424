package temporal

import (
	"cmp"
	"fmt"
	"time"

	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// Names in histories, which stay, and by which the temporal command reaches a run.
const (
	WorkflowType   = "ralph-run"
	SignalStop     = "ralph-stop"     // the run ends after the iteration, and its workflow waits
	SignalContinue = "ralph-continue" // it goes on; run.Limits that are not zero replace its own
	QueryState     = "ralph-state"    // returns run.State

	activityDecide  = "ralph-decide"
	activityIterate = "ralph-iterate"
)

// Course is the argument of the workflow.
type Course struct {
	State   run.State     `json:"state"`
	Silence time.Duration `json:"silence,omitempty"` // an iteration of which nothing is heard for so long is lost; 0 is a minute
}

const (
	silence   = time.Minute
	grace     = time.Minute // beyond the time of an iteration, to end the agent and to keep what it did
	decision  = 2 * time.Hour
	stopped   = 30 * 24 * time.Hour
	decisions = 10 // tries of one, while its worker cannot prepare the run
)

// Run is the workflow. It returns the state at the end of the run. A run that a person stopped waits 30 days to be continued; one that is
// cancelled ends at once. A state that has begun goes on as if it were resumed.
func Run(ctx workflow.Context, c Course) (run.State, error) {
	if known, _ := run.New(run.Plan{}); c.State.Version != known.Version {
		return c.State, sdk.NewNonRetryableApplicationError(fmt.Sprintf("the run has version %d, and this worker drives %d: update the older one", c.State.Version, known.Version), "version", nil)
	}
	d := &driver{Course: c}
	if err := workflow.SetQueryHandler(ctx, QueryState, func() (run.State, error) { return d.State, nil }); err != nil {
		return d.State, err
	}
	in := run.Input{Kind: run.Begin}
	if !c.State.At.IsZero() {
		in.Kind = run.Resume
	}
	for {
		cmd := d.step(ctx, in)
		switch {
		case cmd.Kind == "" && !d.continued(ctx):
			return d.State, nil
		case cmd.Kind == "":
			in = run.Input{Kind: run.Resume, Limits: *d.limits}
		case cmd.Kind != run.Iterate && !d.State.Stopping && workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			return d.State, workflow.NewContinueAsNewError(ctx, WorkflowType, d.Course)
		default:
			in = d.do(ctx, cmd)
		}
	}
}

// driver is a run under way.
type driver struct {
	Course
	stop   bool        // a person wants the run to end after the iteration
	limits *run.Limits // since the last stop a person wants it to go on
}

// step takes a step, at the time of the workflow.
func (d *driver) step(ctx workflow.Context, in run.Input) (cmd run.Command) {
	in.At, in.Stop = workflow.Now(ctx), d.stop
	d.State, cmd = d.State.Step(in)
	d.stop = false
	return cmd
}

// continued waits after the end of a run that a person stopped, and reports whether it goes on.
func (d *driver) continued(ctx workflow.Context) bool {
	if d.State.End.Outcome != run.Interrupted || ctx.Err() != nil {
		return false
	}
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	late := workflow.NewTimer(ctx, stopped)
	d.listen(ctx, late, func() bool { return d.limits == nil && !late.IsReady() })
	return d.limits != nil
}

// listen takes signals while it waits for something, and all that have come by then. Of those that come at once a stop wins.
func (d *driver) listen(ctx workflow.Context, f workflow.Future, waits func() bool) {
	s := workflow.NewSelector(ctx)
	s.AddReceive(workflow.GetSignalChannel(ctx, SignalContinue), func(c workflow.ReceiveChannel, _ bool) {
		l := run.Limits{}
		c.Receive(ctx, &l)
		d.stop, d.limits = false, &l
	})
	s.AddReceive(workflow.GetSignalChannel(ctx, SignalStop), func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, nil)
		d.stop, d.limits = true, nil
	})
	s.AddFuture(f, func(workflow.Future) {})
	for waits() || s.HasPending() {
		s.Select(ctx)
	}
}

// do carries out a command. A failure is an input.
func (d *driver) do(ctx workflow.Context, cmd run.Command) (in run.Input) {
	options := workflow.ActivityOptions{HeartbeatTimeout: cmp.Or(d.Silence, silence), WaitForCancellation: true}
	doing, cancel := workflow.WithCancel(ctx)
	defer cancel()
	var f workflow.Future
	waits := func() bool { return !f.IsReady() }
	switch cmd.Kind {
	case run.Decide:
		options.StartToCloseTimeout, options.RetryPolicy = decision, &sdk.RetryPolicy{MaximumAttempts: decisions}
		f = workflow.ExecuteActivity(workflow.WithActivityOptions(doing, options), activityDecide, d.State)
	case run.Iterate:
		options.StartToCloseTimeout, options.RetryPolicy = cmd.Timeout+grace, &sdk.RetryPolicy{MaximumAttempts: 1}
		f = workflow.ExecuteActivity(workflow.WithActivityOptions(doing, options), activityIterate, d.State, cmd)
	case run.Rest:
		in.Kind = run.Rested
		f = workflow.NewTimer(doing, d.State.Until.Sub(workflow.Now(ctx)))
		waits = func() bool { return !f.IsReady() && !d.stop }
	}
	d.listen(ctx, f, waits)
	if cmd.Kind == run.Rest && ctx.Err() == nil {
		return in
	}
	switch err := f.Get(ctx, &in); {
	case err == nil:
		return in
	case ctx.Err() != nil && cmd.Kind == run.Iterate:
		return run.Input{Kind: run.Iterated, Iteration: run.Iteration{Outcome: run.Interrupted}}
	case ctx.Err() != nil:
		return run.Input{Kind: run.Cancelled}
	case cmd.Kind == run.Iterate:
		return run.Input{Kind: run.Iterated, Iteration: run.Iteration{Outcome: run.Lost, Problem: err.Error()}}
	default:
		return run.Input{Kind: run.Decided, Decision: run.Decision{Outcome: rules.Failed, Reason: err.Error()}}
	}
}
