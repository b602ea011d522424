package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/rules"
)

// A completer gives the words that a shell can complete to.
type completer = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// complete says which words the arguments and flags of the commands take.
func (a *app) complete(root *cobra.Command) {
	policies, sessions := a.words(projectPolicies), a.words(a.sessionIDs)
	hosts := a.words(func(string) []string { return setup.Names() })
	var templates []string
	for _, t := range loopTemplates() {
		templates = append(templates, t.name)
	}
	flags := map[string]completer{
		"policy": orFiles(policies), "session": sessions, "host": oneWord(host.Names()...), "client": oneWord(clientNames()...),
		"scope": oneWord(setup.ScopeProject, setup.ScopeLocal, setup.ScopeUser), "answer": oneWord(answerJSON, answerExitCode), "template": oneWord(templates...),
		"action": oneWord(rules.Stop.String(), rules.Continue.String()),
	}
	arguments := map[string]completer{
		"check": orFiles(policies), "diff": orFiles(policies), "trust": orFiles(policies),
		"start": a.words(a.startable), "stop": a.words(a.withLoop), "pause": a.words(a.withLoop), "resume": policies, "init": policies,
		"install": hosts, "uninstall": hosts,
	}
	for _, c := range root.Commands() {
		if f, ok := arguments[c.Name()]; ok && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = f
		}
		for name, f := range flags {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, f) // it is there, and has none yet
			}
		}
	}
}

// oneWord completes to some words, and to no files.
func oneWord(words ...string) completer {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// words completes to what list gives for the project, and to no files.
func (a *app) words(list func(project string) []string) completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		dir := ""
		if f := cmd.Flags().Lookup("project"); f != nil {
			dir = f.Value.String()
		}
		project, _, err := a.findProject(dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words := list(project)
		return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(args, w) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// orFiles completes to files too.
func orFiles(f completer) completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, _ := f(cmd, args, prefix)
		return words, cobra.ShellCompDirectiveDefault
	}
}

func (a *app) sessionIDs(project string) []string {
	ids, _ := a.knownSessions(project)
	return ids
}

// startable lists the policies that say how their loop starts.
func (a *app) startable(dir string) (names []string) {
	p, err := a.loopsOf(context.Background(), dir)
	if err != nil {
		return nil
	}
	defer p.Close()
	for _, policy := range p.Startable() {
		names = append(names, policy.Short())
	}
	return names
}

// withLoop lists the policies that have a loop now.
func (a *app) withLoop(dir string) (names []string) {
	p, err := a.loopsOf(context.Background(), dir)
	if err != nil {
		return nil
	}
	defer p.Close()
	loops, _ := p.Loops(context.Background()) // the command reports what cannot be read
	for _, l := range loops {
		names = append(names, shortPolicy(l.Policy))
	}
	return names
}
