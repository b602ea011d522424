package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/project"
)

func (a *app) resetCommand() *cobra.Command {
	var session string
	var yes bool
	cmd := &cobra.Command{
		Annotations: exits("the counts and memory begin again", exit{exitFindings, "nothing was counted"}),
		Use:         "reset [POLICY]",
		Short:       "Begin again with nothing counted",
		Args:        atMostOne("policy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ask, err := a.person(yes)
			if err != nil {
				return err
			}
			p, err := a.open()
			if err != nil {
				return err
			}
			defer p.Close()
			if session, err = p.Session(cmd.Context(), session, true); err != nil {
				return err
			}
			return a.reset(cmd.Context(), p, strings.Join(args, ""), session, ask)
		},
	}
	sessionVar(cmd.Flags(), &session, "only what is counted of this session", true)
	personFlag(cmd.Flags(), &yes)
	rejects(cmd, func(cmd *cobra.Command, args []string) error { return a.unknown(cmd.Context(), "", args...) })
	return cmd
}

func (a *app) reset(ctx context.Context, p *project.Project, policy, session string, ask func(string) bool) error {
	what := "all policies"
	if policy != "" {
		policy = p.AtHand(policy)
		what = escape.Line(policy)
	}
	if session != "" {
		what += " in session " + escape.Line(session)
	}
	if !ask(fmt.Sprintf("Forget the counts and memory of %s in %s?", what, escape.Line(p.Dir()))) {
		return errNotReset
	}
	moved, err := p.Reset(ctx, policy, session)
	for _, path := range moved {
		fmt.Fprintf(a.stdout, "moved to %s\n", escape.Line(path))
	}
	switch {
	case err != nil:
		return err
	case len(moved) == 0:
		a.status = exitFindings
		fmt.Fprintf(a.stdout, "nothing is counted of %s\n", what)
	default:
		fmt.Fprintf(a.stdout, "reset %s: the counts and memory begin again\n", what)
	}
	return nil
}

var errNotReset = errors.New("not reset")
