package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// checkOptions are the flags of check.
type checkOptions struct {
	format, failOn string
	set            []string
	deadline       time.Duration
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Annotations: exits("no finding has that severity", exit{exitFindings, "a finding has at least the severity of --fail-on"}),
		Use:         "check [POLICY|FOLDER|-]...",
		Short:       "Report what is wrong with policies",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.check(cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	formatFlag(cmd, &o.format, "the findings", "text", "json", "github")
	f.StringVar(&o.failOn, "fail-on", "warning", "minimum `severity` that causes exit status 1: error, warning or info")
	restrict(cmd, "fail-on", &o.failOn, "error", "warning", "info")
	setFlag(f, &o.set)
	durationVar(f, &o.deadline, "deadline", 0, "report facts that may exceed this time limit of the hook (default: that of the installed hook)")
	return cmd
}

func (a *app) check(ctx context.Context, names []string, o checkOptions) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	failing := func(d rules.Diagnostic) bool {
		return d.Severity == rules.Error || o.failOn == "info" || o.failOn == "warning" && d.Severity == rules.Warning
	}
	all := rules.Diagnostics{} // not nil, for JSON
	var pass []project.Policy
	if names, err = p.Expand(workspace.OrDefault(names)); err != nil {
		return err
	}
	for name := range withProgress(a, "checking", names) {
		var diags rules.Diagnostics
		policy, err := a.findOrRead(p, name)
		if err == nil {
			diags, err = a.findings(ctx, p, policy, o)
		}
		if err != nil {
			// Continue with the others.
			fmt.Fprintf(a.stderr, "ralph: %s: %v\n", name, err)
			a.status = exitFailed
			continue
		}
		all = append(all, diags...)
		if o.format != "text" || slices.ContainsFunc(diags, failing) {
			continue
		}
		if policy, err = p.Load(ctx, policy, project.Load{Set: o.set}); err == nil {
			pass = append(pass, policy)
		}
	}
	if slices.ContainsFunc(all, failing) && a.status == exitOK {
		a.status = exitFindings
	}
	switch o.format {
	case "json":
		return a.encodeJSON(all)
	case "github":
		_, err = io.WriteString(a.stdout, githubCommands(all))
		return err
	}
	text := all.Format()
	if a.colors() {
		text = colored(all)
	}
	_, err = io.WriteString(a.stdout, text)
	for _, policy := range pass {
		showBounds(a.stderr, policy) // stdout has findings only
		a.showCaps(ctx, p, policy)
	}
	return err
}

// showBounds prints what ends a loop of a policy at the latest, and which waits end it in a hook.
func showBounds(w io.Writer, policy project.Policy) {
	for _, text := range []string{policy.Bounded(), policy.Waits()} {
		if text != "" {
			fmt.Fprintln(w, text)
		}
	}
}

// showCap prints the host's own limit if it is less than what the policy allows.
func showCap(w io.Writer, cap setup.Cap, policy project.Policy) {
	n := policy.Program.Limits().Continuations
	if policy.Bounded() == "" || cap.Of(n) == n {
		return
	}
	text := cap.String()
	if fix := cap.Fix(); fix != "" {
		text += "; " + fix
	}
	fmt.Fprintln(w, text)
}

// showCaps prints the limits of the hosts whose hooks evaluate a policy.
func (a *app) showCaps(ctx context.Context, p *project.Project, policy project.Policy) {
	installed, shown := a.setupIn(p.Dir()).Read(ctx), map[string]bool{}
	installed.Asking(func(in setup.Settings, e setup.Entry, policies []string) {
		if host.EventOf(e.Event) == host.Stop && !shown[in.Host.Name] && hasPolicy(p, policies, policy) {
			shown[in.Host.Name] = true
			showCap(a.stderr, installed.Cap(in.Host.Host), policy)
		}
	})
}

// findings returns all findings of a policy, with the deadline of the hook that uses it.
func (a *app) findings(ctx context.Context, p *project.Project, policy project.Policy, o checkOptions) (rules.Diagnostics, error) {
	if o.deadline == 0 {
		o.deadline = a.hookTime(ctx, p, policy) // not installed yet: install gives it the time that the policy needs
	}
	return p.Check(ctx, policy, project.Load{Set: o.set, Deadline: o.deadline})
}

// findOrRead returns a policy by its name; the name - is the policy on standard input.
func (a *app) findOrRead(p *project.Project, name string) (project.Policy, error) {
	if name != "-" {
		return p.Find(p.AtHand(name))
	}
	src, err := a.read("the policy", "", name, maxStdinPolicy)
	return p.From("stdin", src), err
}

// maxStdinPolicy is more than the maximum for a policy, so that rules report that it is too large.
const maxStdinPolicy = 2 << 20
