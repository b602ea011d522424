package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

func (a *app) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [TEMPLATE]",
		Short: "Write a policy to start from, with its tests",
		Long:  strings.Join(project.Shipped(), ", "),
		Args:  atMostOne("template"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return a.init(cmd.Context(), name, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace existing files")
	return cmd
}

func (a *app) init(ctx context.Context, template string, force bool) error {
	dir, err := resolvedDir(a.project) // a project begins in the working directory
	if err != nil {
		return err
	}
	p, err := project.Open(a.in(dir))
	if err != nil {
		return err
	}
	defer p.Close()
	written, unapproved, err := p.Init(ctx, project.InitRequest{Template: template, Force: force, Approve: !a.inSession()})
	for _, file := range written {
		fmt.Fprintf(a.stdout, "wrote %s\n", a.shown(p, file))
	}
	if err != nil {
		return err
	}
	if found, _, err := a.findProject(); err == nil && found != dir {
		fmt.Fprintf(a.stderr, "ralph: other commands take %s for the project here; for this one: --project %s\n", found, shellwords.Quote(runtime.GOOS, dir))
	}
	if unapproved != nil {
		fmt.Fprintf(a.stderr, "ralph: the policy is not approved: %v\n", unapproved)
	}
	a.adviseNext(ctx, p, template)
	return nil
}

// adviseNext prints how long a loop of a new policy may be, and what to do with it.
func (a *app) adviseNext(ctx context.Context, p *project.Project, template string) {
	e, policyFlag, start := examined{name: workspace.DefaultPolicy}, "", "start claude"
	if template != "" {
		e.name, policyFlag = template, " --policy "+template
	}
	if template == "" || template == project.PolicyTemplates()[0] {
		start = "write - [ ] items into TODO.md, then " + start
	}
	var err error
	if e.Policy, err = p.Open(ctx, e.name, project.Load{}); err == nil {
		showBounds(a.stdout, e.Policy)
		if e.Startable() {
			start = strings.TrimSpace("ralph start "+template+" "+strings.ToUpper(e.Program.Loop().Word)) + ", then start claude"
		}
	}
	steps := []string{"ralph test: what the policy does, in examples"}
	if err == nil && !a.inSession() && p.Untrusted(e.Policy) != nil {
		steps = append(steps, "ralph trust "+e.name+": approve the programs that it runs and the model that it asks; read it first")
	}
	steps = append(steps,
		"ralph install claude-code"+policyFlag+": Claude Code asks it at every stop (other hosts: ralph help install)",
		start+"; ralph status and ralph explain show what happens")
	fmt.Fprintln(a.stdout, "next:")
	for i, step := range steps {
		fmt.Fprintf(a.stdout, "  %d. %s\n", i+1, step)
	}
	if err != nil {
		return
	}
	if what, fix := e.reentryAdvice(); what != "" {
		fmt.Fprintf(a.stdout, "%s %s. To run through all tasks: %s\n", e.name, what, fix)
	}
}
