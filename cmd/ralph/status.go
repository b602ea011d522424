package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what would decide the next stop of your agent, and its last decision",
		Args:  noArguments,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, _ []string) error {
			all, err := home.Status(ctx, p, a.getenv)
			if err == nil {
				err = home.AddLast(p, all)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(all)
			}
			if len(all) == 0 {
				a.showNone(p)
			}
			for _, s := range all {
				a.showStatus(s)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (a *app) showNone(p project.Project) {
	fmt.Fprintf(a.stdout, "No hook and no policy in %s.\nContinue your agent until a command passes: ralph until 'go test ./...'\nOr write a policy: ralph init\n", p.Root)
}

func (a *app) showStatus(s project.Status) {
	fmt.Fprintf(a.stdout, "%s: %s\n", text.Line(s.Policy), s.State)
	if s.Run != nil {
		fmt.Fprintf(a.stdout, "  run    %s, iteration %d of %d, since %v: %s\n", s.Run.Plan.ID, s.Run.Iteration, s.Run.Plan.Limits.Max,
			s.Run.At.Local().Format(time.DateTime), text.Line(strings.Join(s.Run.Plan.Args, " ")))
	}
	if s.Host != "" {
		fmt.Fprintf(a.stdout, "  hook   %s, %s\n", s.Host, text.Line(s.Settings))
	}
	if s.Last != nil {
		fmt.Fprintf(a.stdout, "  last   %s, %s%s: %s\n", s.Last.Time.Local().Format(time.DateTime), s.Last.Outcome, by(s.Last.Rule), text.Line(text.Cut(s.Last.Reason, 80)))
		c := s.Last.Counts
		fmt.Fprintf(a.stdout, "  counts %d continuations of this prompt, %d without progress\n", c.Continuations, c.Repeats)
	}
	if s.Bound != "" {
		fmt.Fprintf(a.stdout, "  bound  %s\n", text.Line(s.Bound))
	}
	for _, p := range s.Problems {
		fmt.Fprintf(a.stdout, "  !      %s\n         repair it: %s\n", text.Line(p.What), text.Line(p.Fix))
	}
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Show each problem that keeps ralph from deciding, in full, with its repair",
		Args:  noArguments,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, _ []string) error {
			fmt.Fprintf(a.stdout, "project  %s\nstate    %s\n", p.Root, home.Dir)
			all, err := home.Status(ctx, p, a.getenv)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				a.showNone(p)
				return nil
			}
			found := false
			for _, s := range all {
				for _, problem := range s.Problems {
					found = true
					fmt.Fprintf(a.stdout, "\n%s\n  %s\n  repair it: %s\n", text.Line(s.Policy), text.Clean(problem.What), text.Line(problem.Fix))
				}
			}
			if found {
				return errFound
			}
			fmt.Fprintln(a.stdout, "Nothing is wrong.")
			return nil
		}),
	}
}
