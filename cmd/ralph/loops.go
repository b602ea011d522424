package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// openLoops opens the project of a command with all policies that are known in it, and those of these names.
func (a *app) openLoops(ctx context.Context, flag string, names ...string) (*project.Project, error) {
	dir, err := a.projectDir(flag)
	if err != nil {
		return nil, err
	}
	return a.loopsOf(ctx, dir, names...)
}

// loopsOf opens a project with the policies that are known in it.
func (a *app) loopsOf(ctx context.Context, dir string, names ...string) (*project.Project, error) {
	own, err := a.store()
	if err != nil {
		return nil, err
	}
	policies, _ := a.knownPolicies(ctx, dir)
	for _, name := range names {
		p, err := findPolicy(dir, atHand(dir, name))
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(policies, func(o project.Policy) bool { return o.Name == p.name }) {
			policies = append(policies, a.loadPolicy(ctx, p))
		}
	}
	return project.Open(project.Config{Dir: dir, State: own.Dir(), Policies: policies, Env: a.getenv})
}

// openLoop opens the project of a command, for the loop of one policy.
func (a *app) openLoop(ctx context.Context, flag, name string) (*project.Project, project.Policy, error) {
	p, err := a.openLoops(ctx, flag, name)
	if err != nil {
		return nil, project.Policy{}, err
	}
	found, err := findPolicy(p.Dir(), atHand(p.Dir(), name))
	policy := p.Policies()[max(0, slices.IndexFunc(p.Policies(), func(o project.Policy) bool { return o.Name == found.name }))]
	switch {
	case err != nil:
	case policy.Program == nil:
		err = fmt.Errorf("%s cannot be used; run: ralph check %s\n%s", name, name, policy.Problem)
	case policy.Program.Loop() == nil:
		err = fmt.Errorf("%s names no loop, so there is none to start or stop; to keep it from continuing agents: ralph pause %s", name, policy.Short())
	}
	if err != nil {
		p.Close()
	}
	return p, policy, err
}

// knownPolicies loads the policies that can be meant in a project. A file that can only be used as a part of others, which
// include it, is no policy: parts names those.
func (a *app) knownPolicies(ctx context.Context, dir string) (known []project.Policy, parts map[string]bool) {
	included := map[string]bool{}
	parts = map[string]bool{}
	for _, name := range projectPolicies(dir) {
		p, err := findPolicy(dir, name)
		if err != nil {
			continue // it is gone since
		}
		policy := a.loadPolicy(ctx, p)
		if policy.Program != nil {
			for _, f := range policy.Program.Files()[1:] {
				included[f.Name] = true
			}
		}
		known = append(known, policy)
	}
	return slices.DeleteFunc(known, func(p project.Policy) bool {
		part := p.Program == nil && included[p.Name]
		parts[p.Name] = part
		return part
	}), parts
}

// loadPolicy loads a policy for its loop.
func (a *app) loadPolicy(ctx context.Context, p policy) project.Policy {
	out := project.Policy{Name: p.name, Shadows: p.shadows()}
	v, err := params(p, nil)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	var diags rules.Diagnostics
	if out.Program, diags = a.loadWith(ctx, p, v); out.Program == nil {
		out.Problem = firstError(diags)
	}
	out.Options = append(a.sourceOptions(), loop.WithSource(judge.Source()), loop.WithTrust(func(fact *rules.Fact, files []rules.File) error {
		return a.unapproved(p, v, files, fact)
	}))
	return out
}

// above returns the project that a directory belongs to: the files that the heads of the shipped policies read count. A
// policy that is a file of a project is found by its .ralph.
func (a *app) above(dir string) string {
	var files []string
	for _, name := range builtins() {
		p, _ := shippedPolicy("", name)
		if program, _ := a.loadLazily(context.Background(), p, paramValues{}); program != nil {
			files = append(files, program.HeadFiles()...)
		}
	}
	return workspace.Above(dir, files, a.getenv)
}
