package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/project"
)

// A completer returns the words to which a shell can complete.
type completer = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// complete sets the completers for arguments and flags, by their names, unless a command sets its own.
func (a *app) complete(root *cobra.Command) {
	policies := a.words(func(_ context.Context, p *project.Project) []string { return p.Names() })
	sessions := a.words(func(ctx context.Context, p *project.Project) []string { ids, _ := p.Sessions(ctx); return ids })
	hosts := a.words(func(context.Context, *project.Project) []string { return setup.Names() })
	templates := []string{todosTemplate}
	for _, t := range project.Templates() {
		templates = append(templates, t.Name)
	}
	flags := map[string]completer{
		"policy": orFiles(policies), "session": sessions, "host": oneWord(host.Names()...), "client": oneWord(clientNames()...),
		"scope": oneWord(setup.ScopeProject, setup.ScopeLocal, setup.ScopeUser), "answer": oneWord(answerJSON, answerExitCode), "template": oneWord(templates...),
	}
	arguments := map[string]completer{"POLICY": orFiles(policies), "OLD": orFiles(policies), "TEMPLATE": policies, "HOST": hosts}
	for _, c := range root.Commands() {
		for placeholder, f := range arguments {
			if c.ValidArgsFunction == nil && strings.Contains(c.Use, placeholder) {
				c.ValidArgsFunction = f
			}
		}
		for name, f := range flags {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, f) // it exists, and has none yet
			}
		}
	}
}

// oneWord completes to some words, but no files.
func oneWord(words ...string) completer {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// words completes to what list returns for the project, but no files.
func (a *app) words(list func(ctx context.Context, p *project.Project) []string) completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var words []string
		if dir, _, err := a.findProject(); err == nil {
			if p, err := project.Open(a.in(dir)); err == nil {
				defer p.Close()
				words = list(context.Background(), p)
			}
		}
		return slices.DeleteFunc(words, func(w string) bool { name, _, _ := strings.Cut(w, "\t"); return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// orFiles also completes to files.
func orFiles(f completer) completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, _ := f(cmd, args, prefix)
		return words, cobra.ShellCompDirectiveDefault
	}
}

// startable returns the policies that declare how their loop starts.
func startable(ctx context.Context, p *project.Project) (names []string) {
	for _, policy := range p.Policies(ctx) {
		if policy.Startable() {
			names = append(names, policy.Short())
		}
	}
	return names
}

// withState returns the policies that status shows, with their states as descriptions.
func withState(ctx context.Context, p *project.Project) (names []string) {
	status, err := p.Status(ctx)
	if err != nil {
		return nil // the command reports what cannot be read
	}
	for _, l := range status.Loops {
		names = append(names, project.Short(l.Policy)+"\t"+string(l.State))
	}
	return names
}
