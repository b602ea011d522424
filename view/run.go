package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

// Bounds of what is shown of runs.
const (
	maxRuns       = 20       // that the overview shows
	maxIterations = 500      // of a run, the latest
	maxEvents     = 1 << 20  // bytes of the events of a run, from their end
	maxPrinted    = 64 << 10 // bytes of the agent's output, from its end
)

// shownRun is a run in the words of [project.RunState].
type shownRun struct {
	Info  run.Info `json:"info"`
	State string   `json:"state"`
	Why   string   `json:"why,omitempty"`

	// Of the run that is shown alone.
	Advice     string       `json:"advice,omitempty"` // what a person can do about its end
	Iterations []iteration  `json:"iterations,omitempty"`
	Output     *run.Printed `json:"output,omitempty"` // the end of what its agent printed
}

func newRun(info run.Info) shownRun {
	r := shownRun{Info: info}
	r.State, r.Why = project.RunState(info)
	return r
}

// iteration is one agent process of a run. The decisions of its policy are rows.
type iteration struct {
	N       int           `json:"n"`
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took_ns,omitempty"` // 0 if it is not known
	State   string        `json:"state"`             // a [run.Outcome], or the state of the run
	Problem string        `json:"problem,omitempty"` // the client's error message
	Denied  []run.Denial  `json:"denied,omitempty"`
	Tokens  int           `json:"tokens,omitempty"`
	USD     float64       `json:"usd,omitempty"`
	Waiting string        `json:"waiting,omitempty"` // why the run waited after it
}

// iterations returns the latest iterations of a run, from its events.
func iterations(info run.Info, events []run.Event) (all []iteration) {
	var before *run.Totals // at the end of the previous iteration
	for _, ev := range events {
		last := len(all) - 1
		switch {
		case ev.Kind == run.IterationStart:
			all = append(all, iteration{N: ev.Iteration, Started: ev.Time})
			if ev.Iteration == 1 {
				before = &run.Totals{}
			}
		case last < 0 || ev.Iteration != all[last].N && ev.Kind != run.Waiting: // of an iteration that is not shown
		case ev.Kind == run.IterationEnd:
			it := &all[last]
			if it.State, it.Problem, it.Denied = string(ev.Outcome), ev.Problem, ev.Denied; ev.Outcome != run.Lost { // else it is not known when
				it.Took = ev.Time.Sub(it.Started)
			}
			if before != nil {
				it.Tokens, it.USD = ev.Totals.Tokens-before.Tokens, dollars(ev.Totals)-dollars(*before)
			}
			before = &ev.Totals
		case ev.Kind == run.Waiting:
			all[last].Waiting = ev.Why
		}
	}
	for i := range all {
		switch {
		case all[i].State != "":
		case i < len(all)-1:
			all[i].State = string(run.Lost)
		default:
			all[i].State, _ = project.RunState(info)
		}
	}
	return all[max(0, len(all)-maxIterations):]
}

func dollars(t run.Totals) float64 {
	if t.Cost == nil {
		return 0
	}
	return *t.Cost
}

// findRun returns a run of the project by its ID.
func findRun(p *project.Project, id string) (run.Info, error) {
	if p.Dir() == "" {
		return run.Info{}, unknownError("a run is shown with its project: leave out --all")
	}
	all, err := p.Runs()
	i := slices.IndexFunc(all, func(info run.Info) bool { return info.ID == id })
	switch {
	case err != nil:
		return run.Info{}, err
	case i < 0:
		return run.Info{}, unknownError(fmt.Sprintf("there is no run %q in this project; ralph run --list prints them", id))
	}
	return all[i], nil
}

// run returns a run with all that is shown of it. Its directory may be removed.
func (s *data) run(ctx context.Context, id string) (shownRun, error) {
	info, err := findRun(s.Project, id)
	if err != nil {
		return shownRun{}, err
	}
	shown := newRun(info)
	if !info.Running {
		shown.Advice = s.Project.Advice(ctx, info)
	}
	events, err := info.Events(maxEvents)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shown, err
	}
	shown.Iterations = iterations(info, events)
	printed, err := info.Printed(maxPrinted)
	if errors.Is(err, fs.ErrNotExist) {
		return shown, nil
	}
	shown.Output = &printed
	return shown, err
}

// withoutOutput removes what the agent or its client printed.
func (r *shownRun) withoutOutput() {
	r.Output = nil
	for i := range r.Iterations {
		r.Iterations[i].Problem, r.Iterations[i].Denied = "", nil
	}
}
