package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Runner drives a run on this machine, with the agent as a program. Loop, Store and Env are required. A Runner drives one run at a time.
type Runner struct {
	Loop  *loop.Loop               // decides
	Store loop.Store               // keeps the run; that of Loop
	Env   func(name string) string // says where agents keep their session files

	Output    io.Writer          // gets what agents print, if it is not nil
	Report    func(Input, State) // is called after each input, when the state is kept, if it is not nil
	Interrupt <-chan struct{}    // ends the run after the iteration once it is closed
	Now       func() time.Time   // nil is time.Now

	sleep func(context.Context, State) // of tests; nil waits until State.Until
}

// Run drives a new run to its end. A done ctx ends it now, and the agent with it. The error is that another run holds the policy in the
// project, which wraps fs.ErrExist, or that the run cannot be kept; then it can be resumed from what is kept.
func (r *Runner) Run(ctx context.Context, s State) (State, error) {
	err := r.Loop.Hold(ctx, s.Plan.Holds(), s.Plan.ID, func() (err error) {
		s, err = r.drive(ctx, s, Input{Kind: Begin})
		return err
	})
	return s, err
}

// Resume goes on with a run that ended other than done, or whose process was killed. Limits that are not zero replace its own.
func (r *Runner) Resume(ctx context.Context, id string, l Limits) (State, error) {
	s, err := Load(ctx, r.Store, id)
	if err != nil {
		return s, err
	}
	err = r.Loop.Hold(ctx, s.Plan.Holds(), id, func() (err error) {
		if s, err = Load(ctx, r.Store, id); err != nil {
			return err
		}
		if s.End != nil && s.End.Outcome == rules.Done {
			return fmt.Errorf("the run %s is done", id)
		}
		s, err = r.drive(ctx, s, Input{Kind: Resume, Limits: l})
		return err
	})
	return s, err
}

// drive carries out commands until there is none.
func (r *Runner) drive(ctx context.Context, s State, in Input) (State, error) {
	for {
		next, cmd, err := r.take(ctx, s, in)
		if err != nil || cmd.Kind == "" {
			return next, err
		}
		s, in = next, r.do(ctx, next, cmd)
	}
}

// take makes a step, and keeps the state before anything else happens.
func (r *Runner) take(ctx context.Context, s State, in Input) (State, Command, error) {
	in.At = r.now()
	select {
	case <-r.Interrupt:
		in.Stop = true
	default:
	}
	next, cmd := s.Step(in)
	b, err := json.Marshal(next)
	if err == nil {
		err = r.Store.Update(context.WithoutCancel(ctx), key(s.Plan.ID), func([]byte) ([]byte, error) { return b, nil })
	}
	if err != nil {
		return s, Command{}, fmt.Errorf("the run %s cannot be kept: %w", s.Plan.ID, err)
	}
	if r.Report != nil {
		r.Report(in, next)
	}
	return next, cmd, nil
}

func (r *Runner) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// do carries out a command.
func (r *Runner) do(ctx context.Context, s State, cmd Command) Input {
	switch {
	case ctx.Err() != nil:
		return Input{Kind: Cancelled}
	case cmd.Kind == Decide:
		return r.Decide(ctx, s)
	case cmd.Kind == Iterate:
		return r.Iterate(ctx, s, cmd)
	}
	sleep := r.sleep
	if sleep == nil {
		sleep = r.wait
	}
	if sleep(ctx, s); ctx.Err() != nil {
		return Input{Kind: Cancelled}
	}
	return Input{Kind: Rested}
}

const poll = 2 * time.Second // a rest asks so often whether a person stopped the policy

// wait waits until the time of a rest is over, or until a person wants the run to end.
func (r *Runner) wait(ctx context.Context, s State) {
	for left := s.Until.Sub(r.now()); left > 0; left = s.Until.Sub(r.now()) {
		timer := time.NewTimer(min(left, poll))
		stopped := false
		select {
		case <-timer.C:
			why, err := r.Loop.Off(ctx)
			stopped = why != "" || err != nil // the decision says so
		case <-r.Interrupt:
			stopped = true
		case <-ctx.Done():
			stopped = true
		}
		if timer.Stop(); stopped {
			return
		}
	}
}

const prefix = "run/"

func key(id string) string { return prefix + url.PathEscape(id) }

// ErrNone is the error of Load for an ID that no run has.
var ErrNone = errors.New("there is no such run")

// Load returns the state of a run.
func Load(ctx context.Context, store loop.Store, id string) (State, error) {
	b, err := store.Load(ctx, key(id))
	if err == nil && b == nil {
		err = ErrNone
	}
	s := State{}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil && s.Version != version {
		err = fmt.Errorf("it has version %d, and this program writes %d: update ralph", s.Version, version)
	}
	if err != nil {
		return State{}, fmt.Errorf("the run %s: %w", id, err)
	}
	return s, nil
}

// List returns the runs of a project, the newest first. With an error it lists those that can be read.
func List(ctx context.Context, store loop.Store, root string) (runs []State, err error) {
	keys, err := store.Keys(ctx, prefix)
	for _, k := range keys {
		id, _ := url.PathUnescape(strings.TrimPrefix(k, prefix))
		s, err2 := Load(ctx, store, id)
		if err = errors.Join(err, err2); err2 == nil && s.Plan.Root == root {
			runs = append(runs, s)
		}
	}
	slices.SortStableFunc(runs, func(a, b State) int { return b.Plan.Started.Compare(a.Plan.Started) })
	return runs, err
}

// Live reports whether a process works on a run. l is any loop of its project and store.
func Live(ctx context.Context, l *loop.Loop, s State) (bool, error) {
	if s.End != nil {
		return false, nil
	}
	id, err := l.Held(ctx, s.Plan.Holds())
	return id == s.Plan.ID, err
}
