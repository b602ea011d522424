package view

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
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

// Source reads what there is to show of a project. It is safe for concurrent use.
type Source struct {
	home    *project.Home
	project project.Project
	getenv  func(string) string

	mu     sync.Mutex
	log    *project.LogReader
	recent []loop.Record // the oldest first
}

// Open returns a source. The caller closes it.
func Open(home *project.Home, p project.Project, getenv func(string) string) *Source {
	return &Source{home: home, project: p, getenv: getenv, log: home.ReadLog(p)}
}

// Close releases the log.
func (s *Source) Close() error { return s.log.Close() }

// Read returns what there is to show now. It starts no program and asks no model.
func (s *Source) Read(ctx context.Context) Data {
	s.mu.Lock()
	defer s.mu.Unlock()
	policies, err := s.home.Status(ctx, s.project, s.getenv)
	runs, err2 := run.List(ctx, s.home.Store, s.project.Root)
	entries, err3 := s.log.Next()
	for _, e := range entries {
		s.recent = append(s.recent, e.Record)
	}
	s.recent = s.recent[max(0, len(s.recent)-maxDecisions):]
	d := Data{Project: s.project.Root, Time: time.Now(), Policies: policies, Runs: runs[:min(len(runs), maxRuns)], Decisions: slices.Clone(s.recent)}
	slices.Reverse(d.Decisions)
	if err := errors.Join(err, err2, err3); err != nil {
		d.Problem = err.Error()
	}
	for i := range d.Runs {
		withoutTexts(&d.Runs[i])
	}
	for _, p := range d.Policies {
		withoutTexts(p.Run)
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
