package temporal

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/run/step"
)

// Names that histories of runs have: they stay.
const (
	workflowName   = "ralph-run"
	activitySettle = "ralph-settle"
	activityDo     = "ralph-do"
	signalInput    = "ralph-input"
	queryStatus    = "ralph-status"
)

// Course is a run between two commands, and the argument of its workflow: all that a server of Temporal has of it.
type Course struct {
	State     step.State        `json:"state"`
	Documents map[string]string `json:"documents,omitempty"` // that the state names
	Base      string            `json:"base"`                // the commit at which the run begins
	Commit    string            `json:"commit,omitempty"`    // of the latest iteration, for Merge
	Place     string            `json:"place,omitempty"`     // the task queue of the worker that has the run, "" for none
	Silence   time.Duration     `json:"silence_ns"`          // after which an attempt without a heartbeat is lost
	Away      time.Duration     `json:"away_ns"`             // after which a worker that takes nothing has lost its place
	Events    []step.Event      `json:"events,omitempty"`    // the latest, for people
}

// Done is what came of a command.
type Done struct {
	Input     step.Input        `json:"input"`
	Documents map[string]string `json:"documents,omitempty"` // that its texts name
	Commit    string            `json:"commit,omitempty"`    // what an iteration left
}

// Status is a run, for people.
type Status struct {
	ID         string       `json:"id"`
	Doing      string       `json:"doing"` // the command under way
	Paused     bool         `json:"paused,omitempty"`
	Waits      string       `json:"waits,omitempty"` // for what
	Final      *step.Final  `json:"final,omitempty"`
	Totals     step.Totals  `json:"totals"`
	Place      string       `json:"place,omitempty"`
	Branch     string       `json:"branch"`
	Events     []step.Event `json:"events,omitempty"` // the latest
	Iterations int          `json:"iterations"`
}

// String returns a line for the UI of Temporal.
func (s Status) String() string {
	text := fmt.Sprintf("%s, iteration %d, branch %s", s.Doing, s.Iterations, s.Branch)
	switch {
	case s.Final != nil:
		text += fmt.Sprintf(": %s: %s", s.Final.End, s.Final.Why)
	case s.Waits != "":
		text += ": " + s.Waits
	}
	return text
}

const (
	maxEvents = 20               // that a course has
	most      = 10 * time.Minute // of a command that is not an iteration
	grace     = time.Minute      // to end an agent and to commit its work, beyond the limit of the iteration
	tries     = 3                // of a command whose result counts once
)

// Run is the workflow of a run: it drives [step.State.Step], and decides nothing itself.
func Run(ctx workflow.Context, c Course) (Status, error) {
	if c.State.V != step.New(step.Plan{}).V {
		return Status{}, sdk.NewNonRetryableApplicationError(fmt.Sprintf("the run is of version %d: its workers are too old or too new", c.State.V), "version", nil)
	}
	d := &driver{Course: c, signals: workflow.GetSignalChannel(ctx, signalInput), cancelled: ctx.Done()}
	if err := workflow.SetQueryHandler(ctx, queryStatus, func() (Status, error) { return d.status(), nil }); err != nil {
		return Status{}, err
	}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	if d.State.Seq == 0 {
		d.step(ctx, step.Input{Kind: step.Start})
	}
	for d.State.Due.Kind != step.Finish {
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			for in := (step.Input{}); d.signals.ReceiveAsync(&in); in = (step.Input{}) {
				d.step(ctx, in)
			}
			return Status{}, workflow.NewContinueAsNewError(ctx, workflowName, d.Course)
		}
		d.carryOut(ctx, d.State.Due)
	}
	return d.status(), nil
}

type driver struct {
	Course
	signals   workflow.ReceiveChannel
	cancelled workflow.ReceiveChannel
	now       time.Time
}

func (d *driver) status() Status {
	s := d.State
	status := Status{
		ID: s.Plan.ID, Doing: string(s.Due.Kind), Paused: s.Paused, Final: s.Final, Totals: s.Totals(d.now), Place: d.Place,
		Branch: branchOf(s.Plan.ID), Events: d.Events, Iterations: s.Iterations,
	}
	if s.Pending != nil {
		status.Waits = s.Pending.Why
	}
	return status
}

// step takes a step, at the time of the workflow.
func (d *driver) step(ctx workflow.Context, in step.Input) {
	d.now = workflow.Now(ctx)
	in.At = d.now
	var events []step.Event
	d.State, events, _ = d.State.Step(in)
	d.Events = append(d.Events, events...)
	d.Events = d.Events[max(0, len(d.Events)-maxEvents):]
	s, needed := d.State, map[string]string{}
	for _, t := range []step.Text{s.Plan.Prompt, s.Prompt, s.Answer, s.Memory, s.Latest.Text} {
		if text, ok := d.Documents[t.Document]; ok {
			needed[t.Document] = text
		}
	}
	d.Documents = needed
	workflow.SetCurrentDetails(ctx, d.status().String())
}

// carryOut carries out a command, and takes steps with the signals that come meanwhile, until another one is due.
func (d *driver) carryOut(ctx workflow.Context, command step.Command) {
	doing, abandon := workflow.WithCancel(ctx)
	defer abandon()
	result, set := workflow.NewFuture(ctx)
	workflow.Go(doing, func(ctx workflow.Context) { set.Set(d.do(ctx, command), nil) })
	s := workflow.NewSelector(ctx)
	s.AddFuture(result, func(f workflow.Future) {
		var done Done
		_ = f.Get(ctx, &done) // it is set without an error
		for name, text := range done.Documents {
			if d.Documents == nil {
				d.Documents = map[string]string{}
			}
			d.Documents[name] = text
		}
		d.Commit = cmp.Or(done.Commit, d.Commit)
		done.Input.Key = command.Key
		d.step(ctx, done.Input)
	})
	s.AddReceive(d.signals, func(c workflow.ReceiveChannel, _ bool) {
		var in step.Input
		c.Receive(ctx, &in)
		d.step(ctx, in)
	})
	if d.cancelled != nil {
		s.AddReceive(d.cancelled, func(c workflow.ReceiveChannel, _ bool) {
			c.Receive(ctx, nil)
			d.cancelled = nil
			abandon() // the agent, too
			d.step(ctx, step.Input{Kind: step.Stop, Why: "the workflow was cancelled"})
		})
	}
	for d.State.Due.Key == command.Key && d.State.Due.Kind == command.Kind {
		s.Select(ctx)
	}
}

// do carries out a command. A failure is an input too.
func (d *driver) do(ctx workflow.Context, command step.Command) Done {
	if command.Kind == step.Wait {
		if command.Until.IsZero() {
			ctx.Done().Receive(ctx, nil)
		} else if err := workflow.Sleep(ctx, command.Until.Sub(workflow.Now(ctx))); err != nil {
			return Done{} // another command is due
		}
		return Done{Input: step.Input{Kind: step.Elapsed}}
	}
	for n := 1; ; {
		if err := d.settle(ctx); err != nil {
			return Done{Input: step.Input{Kind: step.Broken, Why: "no worker has the run: " + err.Error()}}
		}
		var done Done
		err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: d.Place, ScheduleToStartTimeout: d.Away, HeartbeatTimeout: d.Silence, WaitForCancellation: true,
			StartToCloseTimeout: cmp.Or(command.Timeout, most) + grace, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 1},
		}), activityDo, d.Course).Get(ctx, &done)
		var timeout *sdk.TimeoutError
		switch {
		case err == nil:
			return done
		case errors.As(err, &timeout) && timeout.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START:
			d.Place = "" // nothing was started
		case command.Kind == step.Iterate:
			return Done{Input: step.Input{Kind: step.Lost}}
		case n == tries:
			return Done{Input: step.Input{Kind: step.Broken, Why: fmt.Sprintf("%s: %v", command.Kind, err)}}
		default:
			n++
		}
	}
}

// settle finds a worker for the run, if none has it. The first one may take its time.
func (d *driver) settle(ctx workflow.Context) error {
	if d.Place != "" {
		return nil
	}
	base, wait := d.Base, time.Duration(0)
	if d.State.Iterations > 0 {
		base, wait = "", d.Away
	}
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToStartTimeout: wait, StartToCloseTimeout: most, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: tries},
	}), activitySettle, d.State.Plan.ID, base).Get(ctx, &d.Place)
}
