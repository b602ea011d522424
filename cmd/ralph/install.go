package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/rules"
)

func (a *app) installCommand() *cobra.Command {
	var names, set []string
	var scope string
	cmd := &cobra.Command{
		Use:   "install host",
		Short: "Add the hook to the settings of your agent",
		Long: `Add the hook to the settings of your agent, for one or more policies. An entry with the same host, policies
and project is replaced. Every other byte of the settings stays.`,
		Args: oneHost,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, args []string) error {
			h, err := host.Lookup(args[0])
			if err != nil {
				return err
			}
			f, err := p.Settings(h, scope, a.getenv)
			if err != nil {
				return err
			}
			e := host.Entry{Policies: names, Set: set, OnlyApproved: scope == project.ScopeUser}
			return a.install(ctx, home, p, f, e, fmt.Sprintf("Installed in %s. New sessions of %s use it.", f.Path, h.Title))
		}),
	}
	cmd.Flags().StringArrayVar(&names, "policy", nil, "decide by the policy of this `name` or file; may be repeated (default "+project.Default+")")
	cmd.Flags().StringArrayVar(&set, "set", nil, "set a param of the policy: `name=value`; may be repeated")
	cmd.Flags().StringVar(&scope, "scope", project.ScopeProject, "the settings of the `project`, of you in it (local), or of you in all projects (user)")
	return cmd
}

// install completes and writes the entry of a hook whose policies can be used, and says what that means.
func (a *app) install(ctx context.Context, home *project.Home, p project.Project, f project.SettingsFile, e host.Entry, means string) error {
	for _, set := range e.Set {
		if _, _, err := project.Param(set); err != nil {
			return err
		}
	}
	opened := home.Hook(ctx, p, e.Policies, e.Set, project.Settings{Whole: true})
	if len(opened) == 0 {
		_, err := p.Policy(project.Default)
		return err
	}
	program, err := f.Program(ctx)
	if err != nil {
		return err
	}
	e.Host, e.Program = f.Host.Name, program
	for _, o := range opened {
		if o.Err != nil && !e.OnlyApproved { // elsewhere there may be another policy of that name
			return o.Err
		}
		if o.Loop == nil {
			continue
		}
		e.Timeout += o.Loop.Deadline()
		e.Events = append(e.Events, hookEvents(o.Loop.Policy())...)
	}
	slices.Sort(e.Events)
	e.Events = slices.Compact(e.Events)
	if err := a.write(f, e, means); err != nil {
		return err
	}
	if _, err := process.Find(e.Program, p.Root); err != nil {
		fmt.Fprintf(a.stdout, "The settings are for all who work on the project, so they name %s, which PATH does not find here: install it in a directory of PATH.\n", e.Program)
	}
	for _, o := range opened {
		if o.Loop != nil {
			a.describe(ctx, home, o, f.Host)
		}
	}
	return nil
}

// write adds an entry to settings and says what that means, or prints the entry where a person has to add it. It also says what the host
// wants besides.
func (a *app) write(f project.SettingsFile, e host.Entry, means string) error {
	h := f.Host
	if h.Settings.TOML {
		text, err := host.Manual(e)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "ralph does not edit TOML. Add this at the end of %s, where new sessions of %s use it:\n\n%s\n", f.Path, h.Title, text)
	} else {
		b, err := host.Install(f.Bytes, e)
		if err != nil {
			return fmt.Errorf("%s: %w; nothing was changed", f.Path, err)
		}
		if err := f.Write(b); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, means)
	}
	if h.Documented {
		fmt.Fprintf(a.stdout, "ralph knows %s by its documentation: no test runs it.\n", h.Title)
	}
	if h.Gate != "" {
		fmt.Fprintln(a.stdout, h.Gate)
	}
	if lacks := h.Lacks(e.Events); len(lacks) > 0 {
		fmt.Fprintf(a.stdout, "%s has no hook at %s.\n", h.Title, strings.Join(lacks, " and "))
	}
	return nil
}

// describe says how the loop of a policy ends, and what keeps it from running.
func (a *app) describe(ctx context.Context, home *project.Home, o project.Opened, h *host.Host) {
	fmt.Fprintf(a.stdout, "%s: %s\n", o.Name, o.Loop.Policy().Bound())
	if _, limit := h.Limit(a.getenv); limit != "" {
		fmt.Fprintf(a.stdout, "%s: %s\n", o.Name, limit)
	}
	if reaches := o.Loop.Policy().Reaches(); len(reaches) > 0 {
		if ok, err := home.Approved(ctx, o.File); err == nil && !ok {
			fmt.Fprintf(a.stdout, "%s: it needs your approval (%s): ralph trust %s\n", o.Name, strings.Join(reaches, ", "), o.Name)
		}
	}
	if _, undo, err := o.Off(ctx); err == nil && undo != "" {
		fmt.Fprintf(a.stdout, "%s: a stop is in force: %s\n", o.Name, undo)
	}
}

func (a *app) uninstallCommand() *cobra.Command {
	var names []string
	cmd := &cobra.Command{
		Use:        "uninstall host",
		SuggestFor: []string{"remove"},
		Short:      "Take the hook out of the settings of your agent",
		Args:       oneHost,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			h, err := host.Lookup(args[0])
			if err != nil {
				return err
			}
			n, err := a.takeOut(h, p, names)
			if err == nil && n == 0 {
				err = fmt.Errorf("no settings of %s have a hook of ralph for %s", h.Title, p.Root)
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&names, "policy", nil, "only the entries of the policy of this `name` or file; may be repeated (default: all)")
	return cmd
}

// takeOut removes the entries of some policies, or of all, from the settings of a host, nil for every host, that are in force in a project, or
// says which lines a person has to remove.
func (a *app) takeOut(h *host.Host, p project.Project, names []string) (n int, err error) {
	for _, f := range p.AllSettings(a.getenv) {
		if h != nil && f.Host != h {
			continue
		}
		entries, err2 := p.Entries(f)
		b, took := f.Bytes, []string(nil)
		for _, e := range entries {
			switch {
			case err2 != nil || len(names) > 0 && !slices.Equal(names, e.Names()):
			case f.Host.Settings.TOML:
				fmt.Fprintf(a.stderr, "ralph does not edit TOML. Take these lines out of %s:\n\n%s", f.Path, e.Lines)
				n++
			default:
				b, err2 = host.Uninstall(b, e)
				took = append(took, strings.Join(e.Names(), " and "))
			}
		}
		if err2 == nil && len(took) > 0 {
			err2 = f.Write(b)
		}
		if err2 != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w; it was not changed", f.Path, err2))
			continue
		}
		for _, policies := range took {
			fmt.Fprintf(a.stderr, "took the hook of %s out of %s\n", policies, f.Path)
		}
		n += len(took)
	}
	return n, err
}

// oneHost takes the name of a host as the only argument.
func oneHost(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one host, for example: ralph %s %s", cmd.Name(), host.ClaudeCode)
	}
	return nil
}

// hookEvents returns the events of a host at which a policy is asked: its own, and prompts if it has something to note beside them.
func hookEvents(p *rules.Policy) []string {
	events := slices.Clone(p.Events)
	if slices.ContainsFunc(p.Rules, func(r rules.RuleInfo) bool { return r.Verb == "note" }) {
		events = append(events, "UserPromptSubmit")
	}
	return events
}
