package view

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// The page has at most so many decisions and runs.
const (
	maxDecisions = 500
	maxRuns      = 50
)

// Data is what the page shows.
type Data struct {
	Project   string           `json:"project"`
	Time      time.Time        `json:"time"` // of the data
	Policies  []project.Status `json:"policies"`
	Runs      []run.State      `json:"runs"`      // the newest first
	Decisions []loop.Record    `json:"decisions"` // the newest first
	Problem   string           `json:"problem"`   // what could not be read; the rest is shown
}

// Collect reads what there is to show of a project. It starts no program and asks no model.
func Collect(ctx context.Context, home *project.Home, p project.Project, getenv func(string) string) Data {
	policies, err := home.Status(ctx, p, getenv)
	runs, err2 := run.List(ctx, home.Store, p.Root)
	decisions, err3 := home.Recent(p, maxDecisions)
	d := Data{Project: p.Root, Time: time.Now(), Policies: policies, Runs: runs[:min(len(runs), maxRuns)], Decisions: decisions}
	if err := errors.Join(err, err2, err3); err != nil {
		d.Problem = err.Error()
	}
	for i := range d.Runs {
		withoutTexts(&d.Runs[i])
	}
	for i := range d.Policies {
		d.Policies[i].Last = nil
		withoutTexts(d.Policies[i].Run)
	}
	return d
}

// withoutTexts removes what the agent of a run said.
func withoutTexts(s *run.State) {
	if s != nil && s.Last != nil {
		s.Last.Texts = nil
	}
}

func (d Data) json() []byte {
	b, err := json.Marshal(d)
	if err != nil {
		b, _ = json.Marshal(Data{Project: d.Project, Time: d.Time, Problem: err.Error()})
	}
	return b
}
