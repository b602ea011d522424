package project_test

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// What to do about a run that ended by the agent. What the command then does is in the scripts of cmd/ralph: there, a
// third failure in a row or a reset would have to be waited for.
func TestAdviceAboutTheAgent(t *testing.T) {
	dir := t.TempDir()
	p, err := project.Open(project.Config{Dir: dir, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	resets := now.Add(3 * time.Hour)
	for _, tt := range []struct {
		name   string
		ended  run.End
		resets *time.Time
		want   string
	}{
		{"it asks", run.Asked, nil, "run `ralph run --resume=r-1 --answer TEXT` to answer"},
		{"it failed three times", run.TooManyFail, nil, "make the agent work again, then run `ralph run --resume=r-1` to continue"},
		{"it was lost three times", run.TooManyLost, nil, "find out what ended the iterations, then run `ralph run --resume=r-1` to continue"},
		{"a reset after the time of the run, which gets as much again from then on", run.NoReset, &resets, "run `ralph run --resume=r-1 --for 4h10m` to continue"},
		{"a reset at an unknown time", run.NoReset, nil, "run `ralph run --resume=r-1 --for 1h10m` to continue"},
	} {
		i := run.Info{ID: "r-1", Root: dir, Ended: tt.ended, Latest: now, Resets: tt.resets}
		i.Limits.Elapsed, i.Totals.Elapsed, i.Totals.Iterations = time.Hour, 10*time.Minute, 1
		if got := p.Advice(context.Background(), i); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestRunState(t *testing.T) {
	for _, tt := range []struct {
		info      run.Info
		word, why string
	}{
		{run.Info{Running: true}, "running", ""},
		{run.Info{Running: true, Waiting: "the agent failed"}, "waiting", "the agent failed"},
		{run.Info{}, "lost", "the run was killed"},
		{run.Info{Ended: run.Success, Why: "all tests pass"}, "done", "all tests pass"},
		{run.Info{Ended: run.NoProgress, Why: "nothing changed"}, "limit", "nothing changed"},
		{run.Info{Ended: run.Cancelled, Why: "the run was interrupted"}, "asked", "the run was interrupted"},
		{run.Info{Ended: run.Asked, Why: "Which one"}, "asked", "Which one"},
		{run.Info{Ended: "of a later version"}, "failed", ""},
	} {
		if word, why := project.RunState(tt.info); word != tt.word || why != tt.why {
			t.Errorf("%+v is %s, %s; want %s, %s", tt.info, word, why, tt.word, tt.why)
		}
	}
}

// Why a run ended is a word of the set that decisions use.
func TestCause(t *testing.T) {
	for _, tt := range []struct {
		info run.Info
		want rules.Cause
	}{
		{run.Info{}, ""},
		{run.Info{Ended: run.Success, Rule: "done"}, ""},
		{run.Info{Ended: run.Stopped, Rule: "enough"}, ""},
		{run.Info{Ended: run.Stopped}, "no_rule"},
		{run.Info{Ended: run.AtLimit, Limit: "iterations"}, "iterations"},
		{run.Info{Ended: run.AtLimit, Rule: "limits.continuations"}, "continuations"},
		{run.Info{Ended: run.NoProgress, Rule: "limits.repeats"}, "repeats"},
		{run.Info{Ended: run.NoReset}, "rate_limit"},
		{run.Info{Ended: run.NoAccess}, "auth"},
		{run.Info{Ended: run.TooManyFail}, "crashes"},
		{run.Info{Ended: run.Cancelled}, "interrupted"},
		{run.Info{Ended: run.Failed}, "failed"},
	} {
		if got := project.Cause(tt.info); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.info, got, tt.want)
		}
	}
}
