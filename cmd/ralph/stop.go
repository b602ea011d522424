package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/project"
)

func (a *app) stopCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Annotations: exits("all that was named is stopped", exit{exitFindings, "there is nothing to stop, or not in one that was named"}),
		Use:         "stop [POLICY]...",
		Short:       "Stop loops, and policies without one",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.stop(cmd.Context(), session, args)
		},
	}
	cmd.ValidArgsFunction = a.words(withState)
	sessionVar(cmd.Flags(), &session, "only stop loops of this session", false)
	return cmd
}

func (a *app) stop(ctx context.Context, session string, names []string) (err error) {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	session, err = p.Session(ctx, session, false)
	for i, name := range names { // if one does not exist, stop none
		names[i] = p.AtHand(name)
		_, unknown := p.Stoppable(ctx, names[i])
		err = errors.Join(err, unknown)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			a.others(ctx, p)
		}
	}()
	if len(names) == 0 {
		n, err := a.stopOne(ctx, p, nil, session)
		if err == nil && n == 0 {
			a.status = exitFindings
		}
		return err
	}
	for _, name := range names {
		n, err := a.stopOne(ctx, p, []string{name}, session)
		switch {
		case err != nil:
			return err
		case n == 0:
			a.status = exitFindings
		}
	}
	return nil
}

// stopOne stops loops and prints them; n is their number.
func (a *app) stopOne(ctx context.Context, p *project.Project, names []string, session string) (n int, err error) {
	stopped, err := p.Stop(ctx, names, session)
	for _, s := range stopped {
		short := s.Policy.Short()
		switch {
		case s.Run != "":
			fmt.Fprintf(a.stdout, "run %s of %s ends after its iteration\n", s.Run, short)
		case s.Archived != "":
			fmt.Fprintf(a.stdout, "stopped %s: %s; %s is now %s\n", short, escape.Line(s.Name), a.shown(p, s.File), a.shown(p, s.Archived))
		case s.File == "" && len(s.Entries) > 0: // only its entry was left
		case s.Already && s.Name == "":
			fmt.Fprintf(a.stdout, "%s is already stopped; run `ralph start %[1]s` to continue it\n", short)
		case s.Name == "":
			fmt.Fprintf(a.stdout, "stopped %s; run `ralph start %[1]s` to continue it\n", short)
		case s.Already:
			fmt.Fprintf(a.stdout, "%s is already stopped: %s; run `ralph start %s` to continue it\n", short, escape.Line(s.Name), short)
		default:
			fmt.Fprintf(a.stdout, "stopped %s: %s; %s is kept; run `ralph start %s` to continue it\n", short, escape.Line(s.Name), a.shown(p, s.File), short)
		}
		for _, file := range s.Entries {
			fmt.Fprintf(a.stdout, "took the entry of %s out of %s\n", short, escape.Line(file))
		}
	}
	if err != nil || len(stopped) > 0 {
		return len(stopped), err
	}
	none := "there is no loop"
	if len(names) > 0 {
		none += " of " + project.Short(names[0])
	}
	if session != "" {
		none += " that session " + escape.Line(session) + " owns"
		a.status = exitFindings
	}
	fmt.Fprintln(a.stdout, none)
	return 0, nil
}

// others prints what a stop does not end.
func (a *app) others(ctx context.Context, p *project.Project) {
	for i, c := range a.setupIn(p.Dir()).Read(ctx).Continuers() {
		if i == 0 {
			fmt.Fprintln(a.stdout, "not stopped, and can continue an agent too:")
		}
		fmt.Fprintf(a.stdout, "  %s: %s\n", escape.Line(c.Where), cut(oneLine(c.What), 80))
	}
}
