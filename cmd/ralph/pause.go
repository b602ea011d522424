package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

func (a *app) pauseCommand() *cobra.Command {
	return a.pausing(a.pause, &cobra.Command{
		ValidArgsFunction: a.words(withState),
		Use:               "pause [POLICY]",
		Short:             "Let agents stop until resume",
	})
}

// pausing adds the arguments and flags of pause and resume.
func (a *app) pausing(do func(ctx context.Context, p *project.Project, policy, session string) error, cmd *cobra.Command) *cobra.Command {
	var session string
	cmd.Args = atMostOne("policy")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := a.open()
		if err != nil {
			return err
		}
		defer p.Close()
		if session, err = p.Session(cmd.Context(), session, false); err != nil {
			return err
		}
		return do(cmd.Context(), p, strings.Join(args, ""), session)
	}
	sessionVar(cmd.Flags(), &session, cmd.Name()+" only this session", false)
	rejects(cmd, func(cmd *cobra.Command, args []string) error { return a.unknown(cmd.Context(), session, args...) })
	return cmd
}

func (a *app) pause(ctx context.Context, p *project.Project, policy, session string) error {
	done, err := p.Pause(ctx, policy, session)
	if err != nil {
		return err
	}
	what := pausedWhat(done.Pause)
	switch all := policy == "" && session == ""; {
	case all && done.Changed:
		fmt.Fprintf(a.stdout, "all loops of this project are off: %s; run `ralph resume` to turn them on\n", a.shown(p, workspace.OffFile))
	case all:
		fmt.Fprintf(a.stdout, "all loops of this project are already off: %s\n", a.shown(p, workspace.OffFile))
	case done.Changed:
		fmt.Fprintf(a.stdout, "paused %s; run `ralph resume %[2]s` to resume it\n", what, pausedArgs(done.Pause))
	default:
		fmt.Fprintf(a.stdout, "%s is already paused\n", what)
	}
	return nil
}

// pausedWhat describes the scope of a pause.
func pausedWhat(p project.Pause) string {
	switch {
	case p.Session == "":
		return project.Short(p.Policy)
	case p.Policy == "":
		return "session " + escape.Line(p.Session)
	}
	return project.Short(p.Policy) + " in session " + escape.Line(p.Session)
}

// pausedArgs returns the arguments of ralph resume that undo a pause.
func pausedArgs(p project.Pause) string {
	var args []string
	if p.Policy != "" {
		args = append(args, shellwords.Quote(runtime.GOOS, project.Short(p.Policy)))
	}
	if p.Session != "" {
		args = append(args, "--session", shellwords.Quote(runtime.GOOS, p.Session))
	}
	return strings.Join(args, " ")
}
