package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/internal/amount"
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
		state, _ := project.RunState(info)
		if info.Ended == "" {
			state = stateWords(info, p.Advice(ctx, info))
		}
		fmt.Fprintf(a.stdout, "%s  %-9s  %-14s  %s  %s\n", info.ID, info.Client, amount.Of(info.Totals.Iterations, "iteration"), project.Short(info.Policy), state)
	}
	return nil
}

// stateWords describes a run that has not ended.
func stateWords(info run.Info, advice string) string {
	word, why := project.RunState(info)
	switch {
	case info.Running && info.Until != nil:
		word += " until " + clock(*info.Until, info.Latest)
	case !info.Running:
		why += strings.TrimSuffix("; "+advice, "; ")
	}
	return strings.TrimSuffix(word+": "+why, ": ")
}
