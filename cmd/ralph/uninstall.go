package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/spf13/cobra"
)

func (a *app) uninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall HOST",
		Short: "Remove ralph from a coding agent's settings",
		Args:  oneHost,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.uninstall(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	cmd.Flags().Lookup("policy").Usage = "only remove the entry of this policy `file` or name; may be repeated (default: all entries of ralph)"
	return cmd
}

func (a *app) uninstall(ctx context.Context, hostName string, f installFlags) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	g, s, err := a.settingsTarget(ctx, p, hostName, f)
	if err != nil {
		return err
	}
	entries, err := s.Entries()
	if err != nil {
		return err
	}
	ours := slices.DeleteFunc(slices.Clone(entries), func(e setup.Entry) bool {
		asked, ok := e.Ralph()
		return !ok || len(f.policies) > 0 && !slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(slices.Values(f.policies)))
	})
	what := "ralph"
	if len(f.policies) > 0 {
		what = policyList(f.policies)
	}
	if len(ours) == 0 {
		is := "is"
		if len(f.policies) > 1 {
			is = "are"
		}
		fmt.Fprintf(a.stdout, "%s %s not installed in %s\n", what, is, s.Shown)
		for _, e := range entries {
			if asked, ok := e.Ralph(); ok && slices.ContainsFunc(f.policies, func(p string) bool { return slices.Contains(asked, p) }) {
				fmt.Fprintf(a.stdout, "An entry there runs %s together: %s\n", policyList(asked), uninstallLine(g.Name, asked, entries, f.scope))
				break
			}
		}
		installed := a.setupIn(p.Dir()).Read(ctx)
		if other, ok := installed.Serving(g, f.scope, f.policies); ok {
			fmt.Fprintf(a.stdout, "%s reads %s, where ralph is installed: ralph uninstall %s%s --scope %s\n", g.Title, other.File.Shown, other.Host.Name, policyFlags(f.policies), other.Scope)
		}
		for _, in := range installed.Of(g) {
			if in.Scope != f.scope && slices.ContainsFunc(in.Entries, func(e setup.Entry) bool { _, ok := e.Ralph(); return ok }) {
				fmt.Fprintf(a.stdout, "ralph is installed in %s: add --scope %s\n", in.File.Shown, in.Scope)
			}
		}
		return nil
	}
	after, err := s.Without(ours)
	if err != nil {
		return err
	}
	if err := a.replace(ctx, s, after, f.dryRun); err != nil || f.dryRun {
		return err
	}
	fmt.Fprintf(a.stdout, "Removed %s from %s.\n", what, s.Shown)
	return nil
}
