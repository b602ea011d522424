package temporal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
)

// WorkflowType is the type of the workflows of runs, by which a program can list them.
const WorkflowType = "ralph-run"

// Names that histories of runs have, as WorkflowType: they stay.
const (
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
	Shown     bool              `json:"shown,omitempty"`     // the server has the search attributes
	Events    []step.Event      `json:"events,omitempty"`    // the latest, for people
}

// Done is what came of a command.
type Done struct {
	Input     step.Input        `json:"input"`
	Documents map[string]string `json:"documents,omitempty"` // that its texts name
	Commit    string            `json:"commit,omitempty"`    // what an iteration left
}

// Status is a run, for people: what ralph status shows, and where it is.
type Status struct {
	run.Info
	Doing  step.CommandKind `json:"doing"` // the command under way
	Paused bool             `json:"paused,omitempty"`
	Place  string           `json:"place,omitempty"` // the task queue of the worker that has it
	Branch string           `json:"branch"`
	Events []step.Event     `json:"events,omitempty"` // the latest
}

// String returns a line for the UI of Temporal.
func (s Status) String() string {
	word, why := project.RunState(s.Info)
	if s.Running && s.Waiting == "" {
		why = string(s.Doing)
	}
	return strings.TrimSuffix(fmt.Sprintf("%s, iteration %d of %d, branch %s: %s", word, s.Totals.Iterations, s.Limits.Iterations, s.Branch, why), ": ")
}

// What a search finds, if the server has these search attributes.
var (
	attributeState     = sdk.NewSearchAttributeKeyKeyword("RalphState")
	attributePolicy    = sdk.NewSearchAttributeKeyKeyword("RalphPolicy")
	attributeIteration = sdk.NewSearchAttributeKeyInt64("RalphIteration")
)

const (
	maxEvents = 20               // that a course has
	most      = 10 * time.Minute // of a command that is not an iteration
	grace     = time.Minute      // to end an agent and to commit its work, beyond the limit of the iteration
	tries     = 3                // of a command whose result counts once
	searches  = 10               // for a worker that can have the run: frozen ones take some
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
	asked := ctx
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	if d.State.Seq == 0 {
		d.step(ctx, step.Input{Kind: step.Start})
	}
	for d.State.Due.Kind != step.Finish {
		if !workflow.GetInfo(ctx).GetContinueAsNewSuggested() || asked.Err() != nil && d.cancelled != nil {
			d.carryOut(ctx, d.State.Due)
			continue
		}
		for in := (step.Input{}); d.signals.ReceiveAsync(&in); in = (step.Input{}) {
			d.step(ctx, in)
		}
		if d.State.Due.Kind != step.Finish {
			return Status{}, workflow.NewContinueAsNewError(ctx, WorkflowType, d.Course)
		}
	}
	return d.status(), nil
}

type driver struct {
	Course
	signals   workflow.ReceiveChannel
	cancelled workflow.ReceiveChannel // nil once it was received
	shows     string                  // what the search attributes show
}

func (d *driver) status() Status {
	return Status{Info: run.InfoOf(d.State), Doing: d.State.Due.Kind, Paused: d.State.Paused != "", Place: d.Place, Branch: branchOf(d.State.Plan.ID), Events: d.Events}
}

// show makes the UI of Temporal show the run.
func (d *driver) show(ctx workflow.Context) {
	s := d.status()
	workflow.SetCurrentDetails(ctx, s.String())
	word, _ := project.RunState(s.Info)
	state, iteration := attributeState.ValueSet(word), attributeIteration.ValueSet(int64(s.Totals.Iterations))
	if is := fmt.Sprint(word, s.Totals.Iterations); d.Shown && is != d.shows {
		d.shows = is
		_ = workflow.UpsertTypedSearchAttributes(ctx, state, iteration, attributePolicy.ValueSet(project.Short(s.Policy)))
	}
}

// step takes a step, at the time of the workflow.
func (d *driver) step(ctx workflow.Context, in step.Input) {
	in.At = workflow.Now(ctx)
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
	d.show(ctx)
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
	done, err := d.ask(ctx, d.Course, command)
	if err == nil && command.Kind != step.Iterate && done.Commit != "" { // what the policy wrote counts with its decision
		c := d.Course
		c.Commit, c.State.Due.Kind = done.Commit, step.Merge
		var merged Done
		if merged, err = d.ask(ctx, c, c.State.Due); err == nil && merged.Input.Kind != step.Merged {
			return merged
		}
	}
	switch gone := (*elsewhere)(nil); {
	case err == nil:
		return done
	case errors.As(err, &gone):
		return Done{Input: step.Input{Kind: step.Gone, Why: gone.Error()}}
	case command.Kind == step.Iterate:
		return Done{Input: step.Input{Kind: step.Lost}}
	}
	return Done{Input: step.Input{Kind: step.Broken, Why: fmt.Sprintf("%s: %v", command.Kind, err)}}
}

// elsewhere means that no worker has the run.
type elsewhere struct{ error }

// ask has the worker of the run carry out a command. A worker that takes nothing, or from which nothing more is heard, no longer
// has the run: it may be frozen, and keep what it takes. What is lost is tried again, but for an iteration.
func (d *driver) ask(ctx workflow.Context, c Course, command step.Command) (done Done, err error) {
	for n := 1; ; {
		if err := d.settle(ctx); err != nil {
			return done, &elsewhere{fmt.Errorf("no worker has the run: %w", err)}
		}
		c.Place = d.Place
		err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: d.Place, ScheduleToStartTimeout: d.Away, HeartbeatTimeout: d.Silence, WaitForCancellation: true,
			StartToCloseTimeout: cmp.Or(command.Timeout, most) + grace, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 1}, Summary: d.status().String(),
		}), activityDo, c).Get(ctx, &done)
		if err == nil {
			return done, nil
		}
		d.Place = ""
		var timeout *sdk.TimeoutError
		switch {
		case errors.As(err, &timeout) && timeout.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START: // nothing was started
		case command.Kind == step.Iterate || n == tries:
			return done, err
		default:
			n++
		}
	}
}

// settle finds a worker for the run, if none has it. The first one may take the time that the run has.
func (d *driver) settle(ctx workflow.Context) error {
	if d.Place != "" {
		return nil
	}
	base := d.Base
	if d.State.Iterations > 0 {
		base = ""
	}
	left := d.State.Plan.Limits.Elapsed - d.State.Totals(workflow.Now(ctx)).Elapsed
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToStartTimeout: max(left, d.Away), StartToCloseTimeout: most, HeartbeatTimeout: d.Silence,
		RetryPolicy: &sdk.RetryPolicy{MaximumInterval: time.Minute, MaximumAttempts: searches},
	}), activitySettle, d.State.Plan.ID, base, d.Silence).Get(ctx, &d.Place)
}
