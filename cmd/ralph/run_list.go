package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

// listRuns prints the runs of the project.
func (a *app) listRuns(ctx context.Context, p *project.Project, f runFlags) error {
	all, err := p.Runs()
	if err != nil {
		return err
	}
	if f.format == "json" {
		return a.encodeJSON(append([]run.Info{}, all...)) // print [], not null
	}
	if len(all) == 0 {
		fmt.Fprintf(a.stdout, "no runs in %s\n", p.Dir())
	}
	for _, info := range all {
		state := stateWords(info, p.Advice(ctx, info))
		if info.Ended != "" {
			state = string(project.Outcome(info.Ended))
		}
		fmt.Fprintf(a.stdout, "%s  %-9s  %-14s  %s  %s\n", info.ID, info.Client, amount.Of(info.Totals.Iterations, "iteration"), project.Short(info.Policy), state)
	}
	return nil
}

// stateWords describes a run that has not ended.
func stateWords(info run.Info, advice string) string {
	switch {
	case !info.Running:
		return strings.TrimSuffix(string(loop.Lost)+"; "+advice, "; ")
	case info.Waiting == "":
		return "running"
	case info.Until == nil:
		return "waiting: " + info.Waiting
	}
	return fmt.Sprintf("waiting until %s: %s", clock(*info.Until, info.Latest), info.Waiting)
}
