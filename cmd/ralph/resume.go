package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

func (a *app) resumeCommand() *cobra.Command {
	return a.pausing(a.resume, &cobra.Command{
		Annotations: exits("the loop continues, or was not paused", exit{exitFindings, "RALPH_OFF still turns all loops off"}),
		Use:         "resume [POLICY]",
		Short:       "Undo pause",
	})
}

func (a *app) resume(ctx context.Context, p *project.Project, policy, session string) error {
	done, err := p.Resume(ctx, policy, session)
	if err != nil {
		return err
	}
	what := pausedWhat(done.Pause)
	switch all := policy == "" && session == ""; {
	case all && done.Changed:
		fmt.Fprintln(a.stdout, "the loops of this project are on")
	case all:
		fmt.Fprintf(a.stdout, "the loops of this project are not off: there is no %s\n", a.shown(p, workspace.OffFile))
	case done.Changed:
		fmt.Fprintf(a.stdout, "resumed %s\n", what)
	default:
		fmt.Fprintf(a.stdout, "%s is not paused\n", what)
	}
	if done.Off != "" {
		fmt.Fprintf(a.stdout, "but %s: it turns loops off in every process that inherits it\n", done.Off)
		a.status = exitFindings
	}
	if done.Problem != "" {
		fmt.Fprintf(a.stdout, "removed what could not be read: %s\n", done.Problem)
	}
	for _, still := range done.Still {
		fmt.Fprintf(a.stdout, "still paused: %s; run `ralph resume %s` to resume it\n", pausedWhat(still), pausedArgs(still))
	}
	return nil
}
