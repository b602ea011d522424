package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

type installFlags struct {
	policies []string
	scope    string
	set      []string
	deadline time.Duration // 0: the default
	dryRun   bool
}

func (f *installFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	policiesFlag(fl, &f.policies)
	fl.StringVar(&f.scope, "scope", setup.ScopeProject, "edit the settings of this `scope`: project, local or user")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the change, but do not make it")
}

func (a *app) installCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install HOST",
		Short: "Add ralph to a coding agent's settings",
		Long:  scopesTable(),
		Args:  oneHost,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.install(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	setFlag(cmd.Flags(), &f.set)
	durationVar(cmd.Flags(), &f.deadline, "deadline", 0, "set the time limit of the hook (default "+defaultDeadline().String()+", or what the policy needs)")
	rejects(cmd, func(cmd *cobra.Command, _ []string) error {
		return errors.Join(wrongIf(f.deadline < 0, "--deadline must be a duration such as 2m; got %s", f.deadline),
			a.unknown(cmd.Context(), "", workspace.OrDefault(f.policies)...))
	})
	return cmd
}

func oneHost(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name the host: " + wordList(setup.Names(), "or"))
	}
	_, err := (setup.Env{}).Host(args[0])
	return err
}

// scopesTable returns the files of the scopes, for the help.
func scopesTable() string {
	var b strings.Builder
	for _, scope := range []string{setup.ScopeProject, setup.ScopeLocal, setup.ScopeUser} {
		for _, g := range (setup.Env{Home: "~"}).Hosts() {
			if file := g.Files[scope]; file != "" {
				fmt.Fprintf(&b, "  %-8s %-12s %s\n", scope, g.Name, filepath.ToSlash(file))
			}
		}
	}
	return b.String()
}

// setupIn returns the user and project for which hosts are set up.
func (a *app) setupIn(project string) setup.Env {
	return setup.Env{Project: project, Home: home.Dir(a.getenv), Getenv: a.getenv, Deadline: defaultDeadline()}
}

// settingsTarget returns the settings file that the flags select.
func (a *app) settingsTarget(ctx context.Context, p *project.Project, hostName string, f installFlags) (setup.Host, setup.File, error) {
	g, err := a.setupIn(p.Dir()).Host(hostName)
	if err != nil {
		return g, setup.File{}, err
	}
	if !slices.Contains(g.Scopes(), f.scope) {
		return g, setup.File{}, fmt.Errorf("%s has no scope %q here; expected one of %s", g.Title, f.scope, strings.Join(g.Scopes(), ", "))
	}
	s, err := g.Open(ctx, f.scope)
	if f.scope != setup.ScopeUser {
		s.Shown = a.shown(p, s.Shown)
	}
	return g, s, err
}

// replace prints the changes of a settings file, and writes it unless it is a dry run.
func (a *app) replace(ctx context.Context, s setup.File, after []byte, dryRun bool) error {
	fmt.Fprint(a.stdout, udiff.Unified(s.Shown, s.Shown, string(s.Src), string(after)))
	if dryRun {
		fmt.Fprintln(a.stdout, "nothing was changed (--dry-run)")
		return nil
	}
	return s.Replace(ctx, after)
}

func (a *app) install(ctx context.Context, hostName string, f installFlags) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	g, s, err := a.settingsTarget(ctx, p, hostName, f)
	if err != nil {
		return err
	}
	entries, _ := s.Entries() // With reports the error
	chosen, kept := f.set, setup.SetOf(entries, f.policies)
	f.set = setup.SetOver(kept, chosen)
	usual := a.setupIn(p.Dir()).Deadline
	for _, e := range entries {
		if e.Asks(f.policies) {
			usual = max(usual, e.Deadline())
		}
	}
	events, needed, err := installable(ctx, p, f, usual)
	if err != nil && kept != nil {
		return fmt.Errorf("%w\nthe entry in %s has%s; run `%s` first to start again",
			err, s.Shown, shellSet("", kept), uninstallLine(g.Name, f.policies, entries, f.scope))
	}
	if err != nil {
		return err
	}
	if f.deadline == 0 && needed > usual {
		f.deadline = needed
	}
	names, absent := g.Events(events)
	if len(names) == 0 {
		return fmt.Errorf("%s has none of the events that %s lists: %s", g.Title, policyList(f.policies), wordList(events, "and"))
	}
	installed, isNew := a.setupIn(p.Dir()).Read(ctx), !setup.Asks(entries, f.policies) // doctor reports an outdated one
	if other, ok := installed.Serving(g, f.scope, f.policies); ok && isNew {
		where := ""
		if g.Settings.ReadsWhere != "" {
			where = ", " + g.Settings.ReadsWhere
		}
		fmt.Fprintf(a.stdout, "%s also reads %s%s, where an entry already runs %s: there is nothing to add.\n", g.Title, other.File.Shown, where, policyList(f.policies))
		a.adviseGates(g.Gates(ctx, other.File))
		return nil
	}
	if err := overlap(installed, g, p, f); err != nil {
		return err
	}
	if where, on := installed.Plugins()[g.Name]; on && isNew {
		if err := besideOwnPlugin(g, where, f.policies); err != nil {
			return err
		}
	}
	program, note := setup.Program()
	after, err := s.With(setup.Want{Program: program, Events: names, Policies: f.policies, Set: f.set, Deadline: f.deadline})
	if err != nil {
		return err
	}
	if bytes.Equal(after, s.Src) {
		fmt.Fprintf(a.stdout, "%s is already installed in %s%s\n", policyList(f.policies), s.Shown, shellSet(", with", f.set))
		a.adviseGates(g.Gates(ctx, s))
		return nil
	}
	if kept = slices.DeleteFunc(kept, func(v string) bool { return !slices.Contains(f.set, v) || slices.Contains(chosen, v) }); len(kept) > 0 {
		fmt.Fprintf(a.stdout, "The entry keeps%s.\n", shellSet("", kept))
	}
	if err := a.replace(ctx, s, after, f.dryRun); err != nil || f.dryRun {
		return err
	}
	s.Src = after
	gates := g.Gates(ctx, s)
	use := cmp.Or(g.Settings.After, "New sessions use it.")
	if len(gates) > 0 {
		use = "New sessions use it once " + g.Title + " has the trust that it asks for."
	}
	fmt.Fprintf(a.stdout, "Installed in %s. %s\n", s.Shown, use)
	if len(absent) > 0 {
		fmt.Fprintf(a.stdout, "%s has no %s, so %s is not evaluated there.\n", g.Title, wordList(absent, "and no"), policyList(f.policies))
	}
	if g.Settings.Here && f.scope != setup.ScopeUser && a.below(p) {
		a.showHere(g, p)
	}
	if f.scope == setup.ScopeUser {
		fmt.Fprintln(a.stdout, "In each project, its loops and settings count once you run `ralph trust` there; a loop that `ralph start` writes counts at once")
	}
	a.adviseGates(gates)
	for _, other := range installed.Readers(g, f.scope, f.policies) {
		fmt.Fprintf(a.stdout, "%s also reads this file, and %s already runs %s: %s\n",
			other.Host.Title, other.File.Shown, policyList(f.policies), uninstallLine(other.Host.Name, f.policies, other.Entries, other.Scope))
	}
	if note != "" {
		fmt.Fprintln(a.stdout, note)
	}
	a.adviseInstalled(ctx, p, g.Name, f, installed.Cap(g.Host))
	return nil
}

// overlap returns an error for an entry with a policy that another entry of the host has, in any scope: the loop would
// count each stop twice. The entry for exactly these policies in the same scope is replaced.
func overlap(installed *setup.Installed, g setup.Host, p *project.Project, f installFlags) error {
	for _, in := range installed.Of(g) {
		for _, e := range in.Entries {
			asked, ok := e.Ralph()
			if !ok || e.Ends() || in.Scope == f.scope && e.Asks(f.policies) {
				continue
			}
			for _, name := range workspace.OrDefault(f.policies) {
				if policy, err := p.Find(name); err != nil || !hasPolicy(p, asked, policy) {
					continue
				}
				return fmt.Errorf("%s already runs %s at %s, set in %s; two entries would count each stop twice.\n"+
					"To replace that entry, first run: %s\n"+
					"To give the policy other values in this project, keep the entry and write into %s: set: {%s: {NAME: VALUE}}",
					g.Title, name, e.Event, in.File.Shown, uninstallLine(g.Name, asked, in.Entries, in.Scope), project.ConfigFile, project.Short(name))
			}
		}
	}
	return nil
}

// hasPolicy reports whether a list of policies includes one, by any of its names.
func hasPolicy(p *project.Project, policies []string, policy project.Policy) bool {
	return slices.ContainsFunc(policies, func(name string) bool {
		other, err := p.Find(name)
		return err == nil && other.Name == policy.Name
	})
}

// besideOwnPlugin returns an error for a policy that ralph's own plugin, enabled in a file, already evaluates.
func besideOwnPlugin(g setup.Host, where string, policies []string) error {
	for _, p := range setup.PluginPolicies() {
		if !slices.Contains(workspace.OrDefault(policies), p) {
			continue
		}
		approve := ""
		if p == workspace.DefaultPolicy {
			approve = "\nThe plugin needs your approval of the policy: ralph trust " + p
		}
		return fmt.Errorf("the plugin %s, enabled in %s, already runs %s; a second entry would count each stop twice.%s\nTo use an entry, first run: %s",
			setup.Plugin, where, p, approve, g.Settings.Plugin.Remove)
	}
	return nil
}

func policyList(policies []string) string {
	return strings.Join(workspace.OrDefault(policies), " and ")
}

// installable loads the policies as a hook would, and returns the events that they decide and the deadline that they
// need.
func installable(ctx context.Context, p *project.Project, f installFlags, usual time.Duration) (events []string, needed time.Duration, err error) {
	for _, name := range workspace.OrDefault(f.policies) {
		policy, err := p.Find(name)
		if err != nil {
			return nil, 0, err
		}
		if shipped, ok := project.ShippedPolicy(name); ok && f.scope == setup.ScopeUser {
			policy = shipped // in other projects
		}
		if f.scope == setup.ScopeUser && !policy.Shipped && !filepath.IsAbs(filepath.FromSlash(name)) {
			return nil, 0, fmt.Errorf("%s is in this project, but --scope user is for all projects: name a shipped policy or an absolute path", name)
		}
		if policy, err = p.Load(ctx, policy, project.Load{Set: f.set}); err != nil {
			return nil, 0, err
		}
		needed = max(needed, policy.Deadline(usual))
		for _, e := range policy.Program.Events {
			if !slices.Contains(events, e) {
				events = append(events, e)
			}
		}
	}
	return events, needed, nil
}

// adviseGates prints how to give the trust that a host needs.
func (a *app) adviseGates(gates []setup.Gate) {
	for _, gate := range gates {
		fmt.Fprintf(a.stdout, "%s: %s.\n", gate.What, strings.Join(gate.Fix, "; "))
	}
}

// adviseInstalled prints what else the user should know about the policies.
func (a *app) adviseInstalled(ctx context.Context, p *project.Project, hostName string, f installFlags, cap setup.Cap) {
	for _, name := range workspace.OrDefault(f.policies) {
		policy, err := p.Open(ctx, name, project.Load{Set: f.set})
		if err != nil {
			continue // doctor reports it
		}
		showBounds(a.stdout, policy)
		showCap(a.stdout, cap, policy)
		e := examined{Policy: policy, name: name, host: hostName, scope: f.scope, entry: f.policies, set: f.set}
		if what, fix := e.reentryAdvice(); what != "" {
			fmt.Fprintf(a.stdout, "%s %s. To run through all tasks: %s\n", name, what, fix)
		}
		if names := inputs(policy.Program); len(names) > 0 {
			fmt.Fprintf(a.stdout, "%s has facts that only a program provides, so in a hook they are missing: %s\n", name, strings.Join(names, ", "))
		}
		if p.Untrusted(policy) != nil {
			fmt.Fprintf(a.stdout, "%s runs programs or asks a model. Read it, then run `ralph trust %s` to approve it\n", name, name)
		}
		if policy.Shadows != "" && f.scope == setup.ScopeUser && policy.Beneath() && p.Unapproved(policy) != nil {
			fmt.Fprintf(a.stdout, "In this project the shipped policy decides until you run `ralph trust %[2]s` to approve the project's own %[1]s\n", policy.Name, name)
		}
	}
}
