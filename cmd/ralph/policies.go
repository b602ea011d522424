package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/escape"
)

// A listedPolicy is a policy that the project can use.
type listedPolicy struct {
	Name        string `json:"name"`           // as in commands
	File        string `json:"file,omitempty"` // of the project
	Description string `json:"description"`
	Shipped     bool   `json:"shipped"`
	Loop        bool   `json:"loop"` // ralph start can start it
	Shadows     string `json:"shadows,omitempty"`
	Problem     string `json:"problem,omitempty"`  // why it cannot be used
	Approval    string `json:"approval,omitempty"` // why its programs and models are not used
}

func (a *app) policiesCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Annotations: exits("each policy can be used", exit{exitFindings, "a policy of the project cannot be used"}),
		Use:         "policies",
		Short:       "List the policies that can be used here, with their descriptions",
		Args:        noArgs(""),
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.listPolicies(cmd.Context(), format) },
	}
	formatFlag(cmd, &format, "the list", "text", "json")
	return cmd
}

func (a *app) listPolicies(ctx context.Context, format string) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	all, width := []listedPolicy{}, 0
	for _, policy := range p.Policies(ctx) {
		l := listedPolicy{Name: policy.Short(), Shipped: policy.Shipped, Loop: policy.Startable(), Shadows: policy.Shadows, Problem: policy.Problem}
		if !policy.Shipped {
			l.File = policy.Name
		}
		if policy.Program == nil {
			a.status = exitFindings
		} else {
			l.Description = oneLine(policy.Program.Description)
			if why := p.Untrusted(policy); why != nil {
				l.Approval = why.Error()
			}
		}
		all, width = append(all, l), max(width, len(l.Name))
	}
	if format == "json" {
		return a.encodeJSON(all)
	}
	paint := a.palette()
	for _, l := range all {
		of := map[bool]string{true: "shipped", false: "project"}[l.Shipped]
		fmt.Fprintf(a.stdout, "%s  %s  %s\n", paint.in(bold, fmt.Sprintf("%-*s", width, escape.Line(l.Name))), of, escape.Line(cmp.Or(l.Description, "-")))
		note := func(text string) { fmt.Fprintf(a.stdout, "%*s  %s\n", width, "", escape.Line(text)) }
		if l.Problem != "" {
			note("it cannot be used; run `ralph check " + l.Name + "`")
		}
		if l.Approval != "" {
			note("it needs your approval; run `ralph trust " + l.Name + "`")
		}
		if l.Shadows != "" {
			note("it replaces the shipped policy " + l.Shadows)
		}
	}
	return nil
}
