package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/run/step"
)

// run drives the step of the run until it ends.
func (r *Runner) run(ctx context.Context) {
	release, in, err := r.begin(ctx)
	if release == nil { // the kept run belongs to the process that holds its lock
		now := r.clock.now()
		r.saved.State.At = now
		r.out.emit(Event{V: 1, Kind: RunEnd, Time: now, Run: r.plan.ID, Ended: Failed, Why: err.Error(), Totals: r.saved.State.Totals(now)})
		return
	}
	defer release()
	if err != nil {
		r.take(in) // the run has begun, and cannot continue
		in = step.Input{Kind: step.Broken, Why: err.Error()}
	}
	for cmd := r.take(r.heed(ctx, in)...); cmd.Kind != step.Finish; {
		cmd = r.take(r.heed(ctx, r.do(ctx, cmd))...)
	}
	if r.out.directory != nil {
		r.out.directory.close()
	}
}

// begin takes the run's lock, opens its directory, and returns the first input. release is nil if it did not take the
// lock.
func (r *Runner) begin(ctx context.Context) (release func(), in step.Input, err error) {
	release = func() {}
	if r.kept.runs != nil {
		if release, err = r.hold(ctx); err != nil {
			return nil, in, err
		}
	}
	in.Kind = step.Start
	if r.resumed.id != "" {
		if in, err = r.recall(); err != nil {
			release()
			return nil, in, err
		}
		if err := r.withdraw(ctx); err != nil {
			return release, in, err
		}
		process.Leftovers(r.saved.Agent, r.mark(), grace) // a previous process of this run was killed
		r.saved.Agent = process.ID{}
	}
	if r.kept.runs != nil {
		if err := r.openDirectory(); err != nil {
			return release, in, err
		}
		r.prune()
	}
	return release, in, nil
}

// take passes inputs to the step, keeps the state after them, and reports the events. If that fails, the run ends.
func (r *Runner) take(inputs ...step.Input) step.Command {
	var events []Event
	for _, in := range inputs {
		in.At = r.clock.now()
		in = r.admit(r.saved.State, in)
		var more []Event
		r.saved.State, more, _ = r.saved.State.Step(in)
		events = append(events, more...)
	}
	if len(events) == 0 {
		return r.saved.State.Due
	}
	r.saved.Events = events
	err := r.keep()
	for _, ev := range events {
		if err == nil && r.out.directory != nil {
			err = r.out.directory.append(ev)
		}
		r.out.emit(ev)
	}
	if err == nil || r.saved.State.Final != nil {
		return r.saved.State.Due
	}
	return r.take(step.Input{Kind: step.Broken, Why: err.Error()})
}

// do carries out a command.
func (r *Runner) do(ctx context.Context, cmd step.Command) step.Input {
	switch cmd.Kind {
	case step.Iterate:
		return r.Iterate(ctx, r.saved.State)
	case step.Look, step.Decide:
		return r.Decide(ctx, r.saved.State)
	case step.Await:
		return r.Await(ctx, r.saved.State)
	case step.Wait:
		return r.wait(ctx, cmd)
	}
	return step.Input{Kind: step.Broken, Why: fmt.Sprintf("this program cannot carry out %q", cmd.Kind)}
}

// poll is how often a waiting run checks its control.
const poll = time.Second

// wait waits until the time of a command, or until the user wants something else.
func (r *Runner) wait(ctx context.Context, cmd step.Command) step.Input {
	for {
		left := cmd.Until.Sub(r.clock.now())
		if left <= 0 || r.clock.hasty && r.saved.State.Paused == "" {
			return step.Input{Kind: step.Elapsed, Key: cmd.Key}
		}
		timer := time.NewTimer(min(left, poll))
		select {
		case <-timer.C:
		case <-r.user.interrupt:
		case <-ctx.Done():
		}
		timer.Stop()
		if wishes, err := r.wishes(ctx); err == nil && len(wishes) > 0 { // what is not known now is asked before anything starts
			return step.Input{} // the next step takes them
		}
	}
}

// paused is why a run waits while a person wants that.
const paused = "loops are paused in this project; run `ralph resume` in another terminal to continue"

// heed returns an input after what the user wants. If that is not known, the run ends after the input.
func (r *Runner) heed(ctx context.Context, in step.Input) []step.Input {
	wishes, err := r.wishes(ctx)
	all := append(wishes, in)
	if err != nil {
		all = append(all, step.Input{Kind: step.Broken, Why: err.Error()})
	}
	return all
}

// withdraw removes the request that ended the run before.
func (r *Runner) withdraw(ctx context.Context) error {
	ctx, cancel := inTime(context.WithoutCancel(ctx)) // a run whose context is done ends as cancelled
	defer cancel()
	return r.kept.runs.orders(ctx).EndRun(r.plan.ID, false)
}

// wishes returns what the user wants, if the state does not have it.
func (r *Runner) wishes(ctx context.Context) ([]step.Input, error) {
	if r.saved.State.Stopping != "" {
		return nil, nil
	}
	stop := step.Input{Kind: step.Stop, Later: true}
	interrupted := false
	select {
	case <-r.user.interrupt:
		interrupted = true
	default:
	}
	ordered, err := r.ordered(ctx)
	control := max(ordered, r.user.control())
	switch cause := context.Cause(ctx); {
	case interrupted || errors.Is(cause, context.Canceled):
		stop.Why = "the run was interrupted"
	case cause != nil:
		stop.Why = fmt.Sprintf("the run was interrupted: %v", cause)
	case err != nil:
		return nil, err
	case control == Leave:
		stop.Why = "the run was stopped"
	case control == Pause && r.saved.State.Paused == "":
		return []step.Input{{Kind: step.Pause, Why: paused}}, nil
	case control == GoOn && r.saved.State.Paused != "":
		return []step.Input{{Kind: step.Go}}, nil
	default:
		return nil, nil
	}
	stop.Later = control != Leave
	return []step.Input{stop}, nil
}
