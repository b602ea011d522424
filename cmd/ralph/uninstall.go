package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

func (a *app) uninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall HOST",
		Short: "Remove ralph from a coding agent's settings",
		Long: "uninstall removes what install added to the settings file of a host: its entries, and the lists,\n" +
			"the file and the directories that are empty then. Every other byte of the file stays. Without\n" +
			"--policy it removes all entries of ralph in that file.",
		Example: "  ralph uninstall claude-code\n  ralph uninstall codex --policy ralph-wiggum --scope user",
		Args:    oneHost,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.uninstall(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	return cmd
}

func (a *app) uninstall(ctx context.Context, hostName string, f installFlags) error {
	g, s, project, err := a.settingsTarget(ctx, hostName, f)
	if err != nil {
		return err
	}
	entries, err := s.hookEntries()
	if err != nil {
		return err
	}
	ours := slices.DeleteFunc(slices.Clone(entries), func(e hookEntry) bool {
		asked, ok := e.ralph()
		return !ok || len(f.policies) > 0 && !slices.Equal(inOrder(asked), inOrder(f.policies))
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
		fmt.Fprintf(a.stdout, "%s %s not installed in %s\n", what, is, s.shown)
		for _, e := range entries {
			if asked, ok := e.ralph(); ok && slices.ContainsFunc(f.policies, func(p string) bool { return slices.Contains(orDefault(asked), p) }) {
				fmt.Fprintf(a.stdout, "An entry there asks %s together: ralph uninstall %s%s --scope %s\n", policyList(asked), g.host, uninstallFlags(asked, entries), f.scope)
				break
			}
		}
		if other := a.serving(ctx, g, project, f); other.file.shown != "" {
			fmt.Fprintf(a.stdout, "%s reads %s, where ralph is installed: ralph uninstall claude-code%s --scope %s\n", g.title, other.file.shown, policyFlags(f.policies), other.scope)
		}
		for _, scope := range g.scopes() {
			if other, err := g.open(ctx, project, a.homeDir(), scope); err == nil && scope != f.scope && other.asksRalph() {
				fmt.Fprintf(a.stdout, "ralph is installed in %s: add --scope %s\n", other.shown, scope)
			}
		}
		return nil
	}
	after, err := s.without(ours)
	if err != nil {
		return err
	}
	if bytes.Equal(after, s.form.empty()) {
		after = nil // a file as install makes it, without hooks
	}
	if err := a.replace(ctx, s, after, f.dryRun); err != nil || f.dryRun {
		return err
	}
	if after == nil {
		if err := g.removeBeside(ctx, project, a.homeDir(), f.scope); err != nil {
			return err
		}
		removeEmpty(filepath.Dir(s.place()), project, a.homeDir())
	}
	fmt.Fprintf(a.stdout, "Removed %s from %s.\n", what, s.shown)
	return nil
}

// inOrder sorts policies, whose order does not matter to uninstall.
func inOrder(policies []string) []string { return slices.Sorted(slices.Values(orDefault(policies))) }

// asksRalph reports whether some entry does.
func (s settingsFile) asksRalph() bool {
	entries, err := s.hookEntries()
	return err == nil && slices.ContainsFunc(entries, func(e hookEntry) bool { _, ok := e.ralph(); return ok })
}
