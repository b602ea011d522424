package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/project"
)

type untilFlags struct {
	max     int
	host    string
	pin     bool
	yes     bool
	changed func(flag string) bool // whether the user set it
}

// untilMax is the default of --max: less than what ends Claude Code itself.
const untilMax = 5

func (a *app) untilCommand() *cobra.Command {
	var f untilFlags
	cmd := &cobra.Command{
		Annotations: exits("the agent is continued until the command passes; or it passes already; with an agent: it passes",
			exit{exitFindings, "with an agent: the run ended without that"}, exit{exitLimit, "with an agent: a limit ended the run"}),
		Use:   "until CMD [flags] [-- AGENT [ARG]...]",
		Short: "Continue an agent until a command passes",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.changed = cmd.Flags().Changed
			words, agent := args, []string(nil)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				words, agent = args[:at], args[at:]
			}
			if err := f.valid(cmd.Flags(), words, agent); err != nil {
				return err
			}
			p, err := a.open()
			if err != nil {
				return err
			}
			defer p.Close()
			if len(agent) > 0 {
				return a.begin(cmd.Context(), p, runFlags{until: words[0], limits: limitFlags{max: f.max}, format: "text", changed: func(flag string) bool { return flag == "max" }}, agent)
			}
			return a.until(cmd.Context(), p, words[0], f)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		ofCommand := errors.As(err, &unknown)
		if err = flagError(cmd, err); ofCommand {
			err = fmt.Errorf("%w; if it belongs to the command, write the command as one argument: ralph until 'make test'", err)
		}
		return err
	})
	fl := cmd.Flags()
	fl.IntVar(&f.max, "max", untilMax, "continue a session at most this many times per prompt; with an agent: end the run after this many iterations")
	fl.StringVar(&f.host, "host", "", "continue the agent of this `host`: "+strings.Join(setup.Names(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("host", oneWord(setup.Names()...))
	fl.BoolVar(&f.pin, "pin", false, "let the files that the command names be as they are now: after a change the command does not run until you approve it")
	personFlag(fl, &f.yes)
	return cmd
}

// valid returns an error for a command of several words, and for flags that do not go together.
func (f untilFlags) valid(fl *pflag.FlagSet, words, agent []string) error {
	var command error
	switch {
	case len(words) == 0:
		command = errors.New("name the command that is to pass, as one argument, for example: ralph until 'make test'")
	case len(words) > 1:
		line := []string{"ralph", "until", shellwords.Line(words)}
		fl.Visit(func(flag *pflag.Flag) { line = append(line, "--"+flag.Name+"="+flag.Value.String()) })
		if len(agent) > 0 {
			line = append(append(line, "--"), agent...)
		}
		command = fmt.Errorf("write the command as one argument: %s", shellwords.Line(line))
	case strings.TrimSpace(words[0]) == "":
		command = errors.New("the command must not be blank")
	}
	none := agent != nil && len(agent) == 0
	wrong := []error{command, wrongIf(none, "write the command line of the agent after --, for example: ralph until 'make test' -- claude -p"), atLeast("max", 1, f.max), wrongIf(f.max > project.MaxUntil, "--max must be %d or less; got %d", project.MaxUntil, f.max)}
	if f.host != "" {
		_, err := (setup.Env{}).Host(f.host)
		wrong = append(wrong, err)
	}
	for _, flag := range []string{"host", "pin", "yes"} {
		wrong = append(wrong, wrongIf(len(agent) > 0 && f.changed(flag), "--%s is for the hook of an agent that you start yourself; leave it out, or leave out -- and the agent", flag))
	}
	return errors.Join(wrong...)
}

// until makes the sessions of a host continue until a command passes.
func (a *app) until(ctx context.Context, p *project.Project, command string, f untilFlags) error {
	ask, err := a.person(f.yes)
	if err != nil {
		return err
	}
	quoted := "`" + escape.Line(command) + "`"
	u := project.Until{Command: command, Max: f.max, Pin: f.pin}
	installed := a.setupIn(p.Dir()).Read(ctx)
	earlier, state, waits := p.Waiting(ctx)
	if waits && f.asksFor(earlier, u, waitingHosts(installed)) {
		a.showLoop(state, time.Now())
		return nil
	}
	g, err := a.untilHost(p, command, f)
	if err != nil {
		return err
	}
	if _, err := a.untilEntry(ctx, p, installed, g, 0, func(string) bool { return true }); err != nil { // it asks when it writes
		return err
	}
	fmt.Fprintf(a.stdout, "$ %s\n", escape.Line(command))
	tried, err := p.Try(ctx, command)
	if err != nil {
		return err
	}
	if tried.Unusable {
		return fmt.Errorf("it is not known whether %s passes, so nothing was written: %s", quoted, tried.Text)
	}
	if tried.Text != "" {
		fmt.Fprintln(a.stdout, escape.Person(tried.Text))
	}
	if tried.Passes {
		fmt.Fprintf(a.stdout, "%s passes already, so nothing was written.\n", quoted)
		return nil
	}
	if waits && !ask("Replace `"+escape.Line(earlier.Command)+"`, for which "+project.UntilPolicy+" waits?") {
		return errNotReplaced
	}
	if waits {
		if _, err := p.Stop(ctx, []string{project.UntilPolicy}, ""); err != nil {
			return err
		}
	}
	u.Took = tried.Took
	return a.wait(ctx, p, g, u, ask)
}

// asksFor reports whether the flags ask for what a loop waits for already, in a host that continues for it.
func (f untilFlags) asksFor(earlier, u project.Until, hosts []string) bool {
	return earlier.Command == u.Command && (earlier.Max == u.Max || !f.changed("max")) && (earlier.Pin == u.Pin || !f.changed("pin")) &&
		(len(hosts) > 0 && f.host == "" || slices.Contains(hosts, f.host))
}

// waitingHosts returns the hosts that have an entry for the loop of ralph until in the project.
func waitingHosts(installed *setup.Installed) (hosts []string) {
	installed.Asking(func(in setup.Settings, e setup.Entry, _ []string) {
		if e.Once() && e.Here() && e.Asks([]string{untilName}) {
			hosts = append(hosts, in.Host.Name)
		}
	})
	return hosts
}

// untilName is the name of the policy of ralph until on the command line of its entry.
const untilName = "until"

// untilHost returns the host whose sessions are to continue: the one that the flag names, or that the user has, or that the
// user chooses on a terminal.
func (a *app) untilHost(p *project.Project, command string, f untilFlags) (setup.Host, error) {
	env := a.setupIn(p.Dir())
	if f.host != "" {
		return env.Host(f.host)
	}
	present := env.Present()
	switch len(present) {
	case 0:
		return setup.Host{}, fmt.Errorf("there is no agent here whose settings ralph can edit; name one with --host, or let ralph start one: ralph until %s -- claude -p",
			shellwords.Quote(runtime.GOOS, command))
	case 1:
		return present[0], nil
	}
	in, isTerminal := terminalOf(a.stdin)
	if isTerminal && !f.yes {
		for i, g := range present {
			fmt.Fprintf(a.stderr, "  %d. %s\n", i+1, g.Title)
		}
		fmt.Fprintf(a.stderr, "Continue which agent? [1-%d] ", len(present))
		answer, _ := bufio.NewReader(in).ReadString('\n') // no answer is none
		if n, err := strconv.Atoi(strings.TrimSpace(answer)); err == nil && n >= 1 && n <= len(present) {
			return present[n-1], nil
		}
		return setup.Host{}, errors.New("no agent was chosen, so nothing was written")
	}
	var lines []string
	for _, g := range present {
		lines = append(lines, "\n  "+shellwords.Line(slices.Concat([]string{"ralph"}, a.typed, []string{"--host", g.Name})))
	}
	return setup.Host{}, fmt.Errorf("there are several agents here; name one:%s", strings.Join(lines, ""))
}

// An untilChange is the change of a host's settings by which its sessions continue.
type untilChange struct {
	file  setup.File
	scope string
	after []byte
}

// untilEntry returns the entry of a host for the loop of ralph until: in the person's own settings for the project, or for all
// projects, with the project named, where the host has no other. It is in a file that git tracks only if the person says so.
func (a *app) untilEntry(ctx context.Context, p *project.Project, installed *setup.Installed, g setup.Host, deadline time.Duration, ask func(string) bool) (c untilChange, err error) {
	var tracked []untilChange
	for _, scope := range []string{setup.ScopeLocal, setup.ScopeUser} {
		if !slices.Contains(g.Scopes(), scope) {
			continue
		}
		f := installFlags{policies: []string{untilName}, scope: scope}
		if _, c.file, err = a.settingsTarget(ctx, p, g.Name, f); err != nil {
			return c, err
		}
		if err := overlap(installed, g, p, f); err != nil {
			return c, err
		}
		program, _ := setup.Program()
		events, _ := g.Events([]string{host.Stop})
		c.scope = scope
		if c.after, err = c.file.With(setup.Want{Program: program, Events: events, Policies: f.policies, Deadline: deadline, Once: true}); err != nil {
			return c, err
		}
		if !c.file.Tracked(ctx) {
			return c, nil
		}
		tracked = append(tracked, c)
	}
	switch {
	case len(tracked) == 0:
		return c, fmt.Errorf("%s has no settings of your own; run `ralph install %s --policy NAME` with a policy of ralph init", g.Title, g.Name)
	case !ask("Git tracks " + escape.Line(tracked[0].file.Shown) + ". Write the entry into it?"):
		return c, fmt.Errorf("%s is tracked by git, so nothing was written", tracked[0].file.Shown)
	}
	return tracked[0], nil
}

// wait starts the loop and writes the entry that evaluates it. Without the entry there is no loop.
func (a *app) wait(ctx context.Context, p *project.Project, g setup.Host, u project.Until, ask func(string) bool) error {
	started, err := p.Wait(ctx, u)
	if errors.As(err, new(*project.ExistsError)) {
		return err
	}
	if err == nil {
		err = a.writeUntil(ctx, p, g, started, ask)
	}
	if err != nil {
		_, undone := p.Stop(context.WithoutCancel(ctx), []string{project.UntilPolicy}, "")
		return errors.Join(err, undone)
	}
	return nil
}

// writeUntil writes the entry, and prints what it does.
func (a *app) writeUntil(ctx context.Context, p *project.Project, g setup.Host, started *project.Started, ask func(string) bool) error {
	env := a.setupIn(p.Dir())
	installed, deadline := env.Read(ctx), started.Policy.Deadline(env.Deadline)
	if deadline == env.Deadline {
		deadline = 0
	}
	c, err := a.untilEntry(ctx, p, installed, g, deadline, ask)
	if err == nil {
		err = c.file.Replace(ctx, c.after)
	}
	if err != nil {
		return err
	}
	cap, own := installed.Cap(g.Host), ""
	if cap.Most > 0 {
		own = " (" + cap.String() + ")"
	}
	waiting, _, _ := p.Waiting(ctx)
	fmt.Fprintf(a.stdout, "%s is continued until `%s` passes, at most %s per prompt%s; stop it with `ralph stop %s`.\n",
		g.Title, escape.Line(waiting.Command), amount.Of(cap.Of(waiting.Max), "time"), own, untilName)
	if cap.Most == 1 {
		fmt.Fprintf(a.stdout, "For more, let ralph start it: ralph until %s -- %s -p\n", shellwords.Quote(runtime.GOOS, escape.Line(waiting.Command)), g.Settings.Program)
	}
	if started.Idle != "" {
		fmt.Fprintf(a.stdout, "it does not run: %s\n", escape.Line(started.Idle))
	}
	for _, in := range installed.Of(g) {
		a.adviseGates(in.Disabled())
	}
	c.file.Src = c.after
	gates := g.Gates(ctx, c.file)
	if len(gates) == 0 {
		fmt.Fprintln(a.stdout, cmp.Or(g.Settings.After, "New sessions use it."))
	}
	a.adviseGates(gates)
	if g.Settings.Here && c.scope != setup.ScopeUser && a.below(p) {
		a.showHere(g, p)
	}
	if _, note := setup.Program(); note != "" {
		fmt.Fprintln(a.stdout, note)
	}
	return nil
}

var errNotReplaced = errors.New("nothing was replaced")
