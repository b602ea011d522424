package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

type trustFlags struct {
	list   bool
	revoke bool
	yes    bool
	set    []string
}

func (a *app) trustCommand() *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Annotations: exits("done", exit{exitFindings, "with --revoke: the policy was not approved"}),
		Use:         "trust [POLICY]...",
		Short:       "Trust this project; let a policy run programs and ask models",
		Long:        interpreterList(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				if f.revoke || len(args) > 0 {
					return errors.New("--list takes neither a policy nor --revoke")
				}
				return a.listTrust()
			}
			p, err := a.open()
			if err != nil {
				return err
			}
			defer p.Close()
			if f.revoke {
				return a.distrust(p, args)
			}
			return a.trust(cmd.Context(), p, args, f)
		},
	}
	cmd.Flags().BoolVarP(&f.list, "list", "l", false, "list what is approved")
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "withdraw the approvals of the policies, or, without a name, all of the project")
	personFlag(cmd.Flags(), &f.yes)
	setFlag(cmd.Flags(), &f.set).Usage = "set a param as the hook's command line does, as `name=value`; may be repeated. It is not part of the approval"
	return cmd
}

// interpreterList returns the programs that run what their command line names, a line each.
func interpreterList() string { return "  " + strings.Join(project.Interpreters(), "\n  ") + "\n" }

// trust approves the current versions of policies, or the project, if the person agrees to what it prints.
func (a *app) trust(ctx context.Context, p *project.Project, names []string, f trustFlags) error {
	var wrong []error
	for _, name := range names { // a person need not answer for one that does not exist
		_, err := p.Find(p.AtHand(name))
		wrong = append(wrong, err)
	}
	ask, err := a.person(f.yes)
	if err := errors.Join(append(wrong, err)...); err != nil {
		return err
	}
	alone := len(names) == 0
	if _, err := p.Find(workspace.DefaultPolicy); alone && err == nil {
		names, alone = []string{workspace.DefaultPolicy}, false
	}
	for _, name := range names {
		policy, err := p.Open(ctx, p.AtHand(name), project.Load{Set: f.set})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		approval, err := p.Approvable(policy)
		if errors.As(err, new(*project.NoNeedError)) {
			fmt.Fprintln(a.stdout, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.showApproval(approval, p.Uses(policy), policy.Params())
		if !ask("Approve " + escape.Line(approval.Policy) + "?") {
			return errNotApproved
		}
		if err := p.Approve(approval); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(a.stdout, "approved %s as it is now, in %s\n", escape.Line(approval.Policy), escape.Line(approval.Project))
	}
	trusted := p.Distrusted() == nil
	if !trusted && !ask("Trust "+escape.Line(p.Dir())+", so that its loops and settings count for hooks of all projects?") {
		return errNotApproved
	}
	if _, err = p.Trust(); err == nil && (!trusted || alone) {
		fmt.Fprintf(a.stdout, "trusted %s: its loops and settings count for hooks of all projects too\n", escape.Line(p.Dir()))
	}
	return err
}

var errNotApproved = errors.New("not approved")

// showApproval prints everything that an approval covers, and what it does not.
func (a *app) showApproval(ap project.Approval, uses []project.Use, params []project.Param) {
	fmt.Fprintf(a.stdout, "%s in %s\n", escape.Line(ap.Policy), escape.Line(ap.Project))
	if len(uses) == 0 {
		fmt.Fprintln(a.stdout, "It neither runs programs nor asks models: only hooks for all projects (--scope user, a plugin) need the approval.")
	} else {
		fmt.Fprintln(a.stdout, "It may use:")
	}
	for _, use := range uses {
		fmt.Fprintf(a.stdout, "  %s: %s, %s: %s\n", use.Pos, use.Name, use.Kind, escape.Line(use.What))
		for _, open := range use.Open {
			fmt.Fprintf(a.stdout, "    not covered: %s; the agent can change it\n", escape.Line(open))
		}
	}
	fmt.Fprintln(a.stdout, "The approval covers:")
	for _, c := range ap.Files {
		fmt.Fprintf(a.stdout, "  file     %s  %.12s\n", escape.Line(c.Name), c.Digest)
	}
	for _, c := range ap.Programs {
		fmt.Fprintf(a.stdout, "  program  %s  %.12s\n", escape.Line(c.Name), c.Digest)
	}
	from := map[string]string{"default": "the default", "--set": "by --set, not part of the approval"}
	for _, param := range params {
		if param.Private {
			param.Value = fmt.Sprintf("(%d bytes)", len(param.Value))
		}
		fmt.Fprintf(a.stdout, "  param    %s = %s  (%s)\n", escape.Line(param.Name), escape.Line(param.Value), cmp.Or(from[param.From], param.From))
	}
}

// distrust withdraws the approvals of policies, or without names all of the project.
func (a *app) distrust(p *project.Project, names []string) error {
	if len(names) == 0 {
		any, err := p.Distrust()
		if !any {
			a.status = exitFindings
		}
		if err == nil {
			fmt.Fprintf(a.stdout, "%s is not trusted, and no policy of it is approved\n", escape.Line(p.Dir()))
		}
		return err
	}
	for _, name := range names {
		was, err := p.Revoke(p.AtHand(name))
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case !was:
			a.status = exitFindings
			fmt.Fprintf(a.stdout, "%s was not approved\n", name)
		default:
			fmt.Fprintf(a.stdout, "%s is no longer approved\n", name)
		}
	}
	return nil
}

// listTrust prints the approvals of all projects.
func (a *app) listTrust() error {
	p, err := project.Open(a.in(""))
	if err != nil {
		return err
	}
	approvals, err := p.Approvals()
	if err != nil {
		return err
	}
	if len(approvals) == 0 {
		fmt.Fprintln(a.stdout, "nothing is trusted")
	}
	for _, ap := range approvals {
		var with []string
		for i, c := range slices.Concat(ap.Files, ap.Programs) {
			if i > 0 {
				with = append(with, c.Name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(ap.Params)) {
			with = append(with, name+"="+ap.Params[name])
		}
		what := cmp.Or(ap.Policy, "loops and settings")
		if ap.Loop != nil {
			what = "only the loop " + ap.Loop.Name + " of " + ap.Policy
		}
		line := fmt.Sprintf("%s  %s in %s", ap.At.Local().Format(time.DateTime), what, ap.Project)
		if len(with) > 0 {
			line += " with " + strings.Join(with, ", ")
		}
		fmt.Fprintln(a.stdout, escape.Line(line))
	}
	return nil
}
