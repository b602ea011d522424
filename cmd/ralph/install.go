package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
)

// hookTimeout is what the host gives one answer, in seconds. ralph answers sooner:
// it lets the agent stop at its own deadline, which this must exceed.
const hookTimeout = 60

// leastTimeout is the least that an entry may say where ralph gives up after deadline,
// in seconds.
func leastTimeout(deadline time.Duration) int { return int(math.Ceil(deadline.Seconds())) + 5 }

// timeoutFor is what an entry says for that deadline.
func timeoutFor(deadline time.Duration) int { return max(hookTimeout, leastTimeout(deadline)) }

type installFlags struct {
	policies []string
	scope    string
	set      []string
	deadline time.Duration // 0: the usual one
	project  string
	dryRun   bool
}

func (f *installFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.policies, "policy", "p", nil, "policy `file`, or name of a shipped policy; may be repeated (default .ralph/policy.yaml)")
	fl.StringVar(&f.scope, "scope", scopeProject, "which settings: project, local or user")
	projectFlag(fl, &f.project)
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "show what would change, and change nothing")
}

func (a *app) installCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install HOST",
		Short: "Add ralph to a coding agent's settings",
		Long: "install adds ralph to the settings of a host, for each event that the policy lists and the\n" +
			"host has, and shows the change. Every other byte of the file stays. Where the host asks for\n" +
			"trust before it runs a hook, install says how to give it; ralph never gives it itself.\n" +
			"Installing again changes nothing; with another --set it updates the entry and keeps the\n" +
			"params that the entry sets already. To start anew, uninstall it first. With --deadline the\n" +
			"entry gives ralph that much time, and the host waits longer. The scope chooses the file:\n\n" + scopesTable() + "\n" +
			"In the scope user the entry says --scope user: loops, settings and policies that a project\n" +
			"brings count only once you trust it, see ralph trust.",
		Example: "  ralph install claude-code                     # .ralph/policy.yaml\n" +
			"  ralph install claude-code --policy speckit --set reentry=progress\n" +
			"  ralph install codex --policy ralph-wiggum --scope user --dry-run",
		Args: oneHost,
		RunE: func(cmd *cobra.Command, args []string) error { return a.install(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	setFlag(cmd.Flags(), &f.set)
	cmd.Flags().DurationVar(&f.deadline, "deadline", 0, "time limit of the hook, for policies that run slow programs (default "+defaultDeadline().String()+")")
	return cmd
}

func oneHost(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name the host: " + wordList(agentNames(agents("", noEnv)), "or"))
	}
	return nil
}

func noEnv(string) string { return "" }

// scopesTable lists the files that the scopes mean, for the help.
func scopesTable() string {
	var b strings.Builder
	for _, scope := range []string{scopeProject, scopeLocal, scopeUser} {
		for _, g := range agents("~", noEnv) {
			if file := g.files[scope]; file != "" {
				fmt.Fprintf(&b, "  %-8s %-12s %s\n", scope, g.host, filepath.ToSlash(file))
			}
		}
	}
	return b.String()
}

// settingsTarget finds the settings file that the flags mean.
func (a *app) settingsTarget(ctx context.Context, hostName string, f installFlags) (agent, settingsFile, string, error) {
	project, err := a.projectDir(f.project)
	if err != nil {
		return agent{}, settingsFile{}, "", err
	}
	g, err := a.agentNamed(hostName)
	if err != nil {
		return agent{}, settingsFile{}, "", err
	}
	if !slices.Contains(g.scopes(), f.scope) {
		return g, settingsFile{}, "", fmt.Errorf("%s has no scope %q here, expected one of %s", g.title, f.scope, strings.Join(g.scopes(), ", "))
	}
	s, err := g.open(ctx, project, a.homeDir(), f.scope)
	return g, s, project, err
}

func (a *app) install(ctx context.Context, hostName string, f installFlags) error {
	if f.deadline < 0 {
		return fmt.Errorf("--deadline takes a duration such as 2m, not %s", f.deadline)
	}
	g, s, project, err := a.settingsTarget(ctx, hostName, f)
	if err != nil {
		return err
	}
	entries, _ := s.hookEntries() // with reports the error
	chosen, kept := f.set, installedSet(entries, f.policies)
	f.set = setOver(kept, chosen)
	events, err := a.installable(ctx, project, f)
	if err != nil && kept != nil {
		return fmt.Errorf("%w\nthe entry in %s has%s; to start anew, first run: ralph uninstall %s%s --scope %s",
			err, s.shown, shellSet("", kept), g.host, uninstallFlags(f.policies, entries), f.scope)
	}
	if err != nil {
		return err
	}
	names, absent := g.hostEvents(events)
	if len(names) == 0 {
		return fmt.Errorf("%s has no event of %s, which lists %s", g.title, policyList(f.policies), wordList(events, "and"))
	}
	if other := a.serving(ctx, g, project, f); other.file.shown != "" && !asks(entries, f.policies) {
		where := ""
		if g.readsWhere != "" {
			where = ", " + g.readsWhere
		}
		fmt.Fprintf(a.stdout, "%s reads %s too%s, and the entry there asks %s already: there is nothing to add.\n", g.title, other.file.shown, where, policyList(f.policies))
		a.adviseGates(a.gates(ctx, g, project, other.scope, other.file))
		return nil
	}
	if err := a.overlap(ctx, g, project, f); err != nil {
		return err
	}
	if !asks(entries, f.policies) { // doctor reports one that is there
		if err := a.besideOwnPlugin(ctx, g, project, f.policies); err != nil {
			return err
		}
	}
	words, note := a.program()
	words = append(words, "eval")
	if !samePolicies(f.policies, nil) {
		for _, p := range f.policies {
			words = append(words, "--policy", p)
		}
	}
	for _, v := range f.set {
		words = append(words, "--set", v)
	}
	if f.scope == scopeUser {
		words = append(words, "--scope", scopeUser)
	}
	if f.deadline > 0 {
		words = append(words, "--deadline", f.deadline.String())
	}
	after, err := g.with(s, names, f.policies, words)
	if err != nil {
		return err
	}
	if bytes.Equal(after, s.src) {
		fmt.Fprintf(a.stdout, "%s is already installed in %s%s\n", policyList(f.policies), s.shown, shellSet(", with", f.set))
		a.adviseGates(a.gates(ctx, g, project, f.scope, s))
		return nil
	}
	if kept = slices.DeleteFunc(kept, func(v string) bool { return !slices.Contains(f.set, v) || slices.Contains(chosen, v) }); len(kept) > 0 {
		fmt.Fprintf(a.stdout, "The entry keeps%s.\n", shellSet("", kept))
	}
	if !f.dryRun {
		if err := g.writeBeside(ctx, project, a.homeDir(), f.scope); err != nil {
			return err
		}
	}
	if err := a.replace(ctx, s, after, f.dryRun); err != nil || f.dryRun {
		return err
	}
	gates := a.gates(ctx, g, project, f.scope, s.with(after))
	use := cmp.Or(g.after, "New sessions use it.")
	if len(gates) > 0 {
		use = "New sessions use it once " + g.title + " has the trust that it asks for."
	}
	fmt.Fprintf(a.stdout, "Installed in %s. %s\n", s.shown, use)
	if len(absent) > 0 {
		fmt.Fprintf(a.stdout, "%s has no %s, so it does not ask %s there.\n", g.title, wordList(absent, "and no"), policyList(f.policies))
	}
	if dir, err := os.Getwd(); err == nil && g.here && f.scope != scopeUser && !sameFile(dir, project) && beneath(project, dir) {
		fmt.Fprintf(a.stdout, "Start %s in %s: it reads only the settings of the folder that it is started in.\n", g.title, project)
	}
	if f.scope == scopeUser {
		fmt.Fprintln(a.stdout, "In each project, its loops and settings count once you start a loop there or run: ralph trust")
	}
	a.adviseGates(gates)
	a.adviseReaders(ctx, g, project, f)
	if note != "" {
		fmt.Fprintln(a.stdout, note)
	}
	a.adviseInstalled(ctx, project, g.host, f)
	return nil
}

func policyList(policies []string) string {
	return strings.Join(orDefault(policies), " and ")
}

// installable checks the policies as a hook would load them, and gives the events
// that they decide.
func (a *app) installable(ctx context.Context, project string, f installFlags) (events []string, err error) {
	for _, name := range orDefault(f.policies) {
		p, err := findPolicy(project, name)
		if err != nil {
			return nil, err
		}
		if shipped, ok := shippedPolicy(project, name); ok && f.scope == scopeUser {
			p = shipped // in other projects
		}
		if f.scope == scopeUser && !p.shipped && !filepath.IsAbs(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s is in this project, but --scope user is for all projects: name a shipped policy or an absolute path", name)
		}
		program, diags, err := a.load(ctx, p, f.set)
		if err != nil {
			return nil, err
		}
		if program == nil {
			return nil, unusable(name, diags)
		}
		for _, e := range program.Events {
			if !slices.Contains(events, e) {
				events = append(events, e)
			}
		}
	}
	return events, nil
}

// A servingFile is a settings file of Claude Code in which another host runs hooks too.
type servingFile struct {
	scope string
	file  settingsFile
}

// serving finds the entry of Claude Code that serves another host too: it asks the same policies.
// The user's own entry is for other projects than this one, so none of this project serves for it.
func (a *app) serving(ctx context.Context, g agent, project string, f installFlags) servingFile {
	claude, err := a.agentNamed(host.ClaudeCode)
	if err != nil {
		return servingFile{}
	}
	for _, scope := range g.reads {
		if f.scope == scopeUser && scope != scopeUser || claude.files[scope] == "" {
			continue
		}
		s, err := claude.open(ctx, project, a.homeDir(), scope)
		if err != nil {
			continue // doctor reports it
		}
		if entries, err := s.hookEntries(); err == nil && asks(entries, f.policies) {
			return servingFile{scope, s}
		}
	}
	return servingFile{}
}

// asks reports whether some entry asks these policies.
func asks(entries []hookEntry, policies []string) bool {
	return slices.ContainsFunc(entries, func(e hookEntry) bool {
		asked, ok := e.ralph()
		return ok && samePolicies(asked, policies)
	})
}

// adviseGates says how to give the trust that a host asks for.
func (a *app) adviseGates(gates []gate) {
	for _, gate := range gates {
		fmt.Fprintf(a.stdout, "%s: %s.\n", gate.what, strings.Join(gate.fix, "; "))
	}
}

// adviseReaders names the hosts that read a file of Claude Code too and have an entry of their own.
func (a *app) adviseReaders(ctx context.Context, g agent, project string, f installFlags) {
	for _, other := range agents(a.homeDir(), a.getenv) {
		if g.host != host.ClaudeCode || !slices.Contains(other.reads, f.scope) {
			continue
		}
		for _, scope := range other.scopes() {
			s, err := other.open(ctx, project, a.homeDir(), scope)
			if err != nil {
				continue
			}
			if entries, err := s.hookEntries(); err == nil && asks(entries, f.policies) {
				fmt.Fprintf(a.stdout, "%s reads this file too, and %s asks %s already: ralph uninstall %s%s --scope %s\n",
					other.title, s.shown, policyList(f.policies), other.host, uninstallFlags(f.policies, entries), scope)
			}
		}
	}
}

// adviseInstalled says what else a user should know of the policies.
func (a *app) adviseInstalled(ctx context.Context, project, hostName string, f installFlags) {
	for _, name := range orDefault(f.policies) {
		p, program, err := a.open(ctx, project, name, f.set)
		if err != nil {
			continue // doctor reports it
		}
		e := examined{name: name, policy: p, program: program, host: hostName, scope: f.scope, entry: f.policies, set: f.set}
		e.values, _ = params(p, f.set) // open has read them
		deadline := cmp.Or(a.hookTime(ctx, project, p), f.deadline, defaultDeadline())
		for _, fact := range program.Facts() {
			if fact.Timeout >= deadline {
				fmt.Fprintf(a.stdout, "The fact %q of %s may take %s, and the hook ends after %s. To give it more time: ralph install %s%s --scope %s --deadline %s\n",
					fact.Name, name, fact.Timeout, deadline, hostName, policyFlags(f.policies), f.scope, (fact.Timeout + 10*time.Second).Round(time.Second))
			}
		}
		if what, fix := e.reentryAdvice(); what != "" {
			fmt.Fprintf(a.stdout, "%s %s. To run through all tasks: %s\n", name, what, fix)
		}
		if names := inputs(program); len(names) > 0 {
			fmt.Fprintf(a.stdout, "%s has facts that a program gives, and a hook gives none: %s\n", name, strings.Join(names, ", "))
		}
		if a.needsTrust(e) != nil {
			fmt.Fprintf(a.stdout, "%s runs programs or asks a model. Read it, then approve it: ralph trust %s\n", name, name)
		}
		if short := p.shadows(); short != "" && f.scope == scopeUser && p.isProjects(name) && a.unapproved(p, e.values, program.Files(), nil) != nil {
			fmt.Fprintf(a.stdout, "In this project the shipped policy decides until you approve the project's own %s: ralph trust %s\n", p.name, name)
		}
	}
}

// program gives the word with which a host finds this program: its name if that
// leads to it, else where it is.
func (a *app) program() (words []string, note string) {
	self, err := os.Executable()
	if err != nil {
		return []string{"ralph"}, ""
	}
	found, err := exec.LookPath("ralph")
	switch {
	case err == nil && sameFile(found, self):
		return []string{"ralph"}, ""
	case keptByNpx(self):
		note = "npx keeps this program only for a while. Install it first: npm install -g @ralph-sdk/ralph-loop, then run ralph install again."
	case err == nil && fromNpm(self):
		note = "The entry names the program itself, not the wrapper of npm, so that no hook waits for Node.js."
	case err == nil:
		note = fmt.Sprintf("The first ralph on the PATH is another program, %s, so the entry has the full path of this one.", found)
	default:
		note = "There is no ralph on the PATH, so the entry has the full path of this program."
	}
	return []string{self}, note
}

// fromNpm reports whether a program is from a package of npm, where the ralph on the PATH
// is a wrapper that starts it by Node.js.
func fromNpm(program string) bool {
	return strings.Contains(filepath.ToSlash(program), "/node_modules/@ralph-sdk/ralph-loop-")
}

func keptByNpx(program string) bool {
	return fromNpm(program) && strings.Contains(filepath.ToSlash(program), "/_npx/")
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
