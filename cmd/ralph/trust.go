package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
)

func (a *app) trustCommand() *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [policy ...]",
		Short: "Approve policies that run programs, ask models, or read variables or your home directory",
		Long: `Approve policies that run programs, ask models, or read variables or your home directory.
Without a name it takes all policies of the project. An approval is for the file as it is: a change needs a new one.`,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, names []string) error {
			files, err := policies(p, names)
			if err != nil {
				return err
			}
			if !revoke && host.InSession(a.getenv) != "" {
				return errPerson
			}
			for _, f := range files {
				if revoke {
					err = home.Revoke(ctx, f)
					fmt.Fprintf(a.stdout, "%s is not approved.\n", f.Shown(p))
				} else {
					err = a.trust(ctx, home, p, f, yes)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without a question")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take approvals back")
	return cmd
}

// trust approves one policy, if the person says so.
func (a *app) trust(ctx context.Context, home *project.Home, p project.Project, f project.File, yes bool) error {
	policy, err := p.Parse(f, project.Settings{Whole: true})
	if err != nil {
		return err
	}
	if f.Path == "" {
		fmt.Fprintf(a.stdout, "%s needs no approval.\n", f.Shown(p))
		return nil
	}
	if done, err := home.Approved(ctx, f); err != nil || done {
		fmt.Fprintf(a.stdout, "%s is approved already.\n", f.Shown(p))
		return err
	}
	reaches := policy.Reaches()
	if len(reaches) == 0 {
		reaches = []string{"reads and changes files of the project only; a hook of all projects uses it once it is approved"}
	}
	fmt.Fprintf(a.stdout, "%s\n  %s\n", f.Shown(p), text.Clean(strings.Join(reaches, "\n  ")))
	fmt.Fprintln(a.stdout, "What it runs, runs outside the agent's sandbox, with whatever the project contains then.")
	if err := a.person("Approve it?", yes); err != nil {
		return err
	}
	if err := home.Approve(ctx, f, a.now()); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s is approved until it changes.\n", f.Shown(p))
	return nil
}

// errPerson is the error of what only a person may do.
var errPerson = errors.New("only a person may do this: do it in a terminal of your own")
