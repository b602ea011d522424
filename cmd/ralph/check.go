package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/rules"
)

func (a *app) checkCommand() *cobra.Command {
	var against string
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "check [policy ...]",
		SuggestFor: []string{"lint", "validate"},
		Short:      "Show what is wrong or dubious in policies",
		Long: `Show what is wrong or dubious in policies: each finding with its place and what to write instead.
Without a name it takes all policies of the project. ralph help CHECK explains a finding.

The exit status is 0 if nothing was found, 1 if something was.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if against != "" {
				return a.against(cmd.Context(), p, against, names)
			}
			return a.check(p, names, asJSON)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "show situations in which the policy and this `old` one decide differently")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of findings")
	return cmd
}

func (a *app) check(p project.Project, names []string, asJSON bool) error {
	files, err := policies(p, names)
	if err != nil {
		return err
	}
	all := rules.Findings{}
	for _, f := range files {
		policy, err := p.Parse(f, project.Settings{Whole: true})
		var found rules.Findings
		if err == nil {
			found = rules.Check(policy)
		} else if !errors.As(err, &found) {
			return err
		}
		all = append(all, found...)
		if !asJSON && len(found) == 0 {
			fmt.Fprintf(a.stdout, "%s: nothing found. %s\n", f.Shown(p), policy.Bound())
		}
	}
	if asJSON {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else {
		for _, f := range all {
			fmt.Fprintln(a.stdout, f.String())
		}
	}
	if len(all) > 0 {
		return errFound
	}
	return nil
}

// policies returns the policies of some names, or all of the project.
func policies(p project.Project, names []string) ([]project.File, error) {
	if len(names) == 0 {
		names = p.Names()
	}
	if len(names) == 0 {
		names = []string{project.Default}
	}
	var files []project.File
	for _, name := range names {
		f, err := p.Policy(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// against shows where two policies decide differently.
func (a *app) against(ctx context.Context, p project.Project, old string, names []string) error {
	if len(names) != 1 {
		return errors.New("name the one policy to compare: ralph check NEW --against OLD")
	}
	files, err := policies(p, []string{old, names[0]})
	if err != nil {
		return err
	}
	var two [2]*rules.Policy
	for i, f := range files {
		if two[i], err = p.Parse(f, project.Settings{Whole: true}); err != nil {
			return err
		}
	}
	found, all := rules.Diff(ctx, two[0], two[1])
	for _, d := range found {
		fmt.Fprintf(a.stdout, "%s → %s\n    %s\n", d.Old, d.New, d.Situation)
	}
	switch {
	case !all && len(found) == 0:
		fmt.Fprintln(a.stdout, "No difference was found, and the search stopped after a second: there may be one.")
	case !all:
		fmt.Fprintln(a.stdout, "The search stopped after a second: there may be more.")
	case len(found) == 0:
		fmt.Fprintln(a.stdout, "Both decide the same in every situation.")
	}
	if len(found) > 0 {
		return errFound
	}
	return nil
}
