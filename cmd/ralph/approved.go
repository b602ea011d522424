package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// approvable is a policy as approvals know it.
func approvable(p policy, v paramValues, files []rules.File) approval.Policy {
	return approval.Policy{
		Root: p.project, Name: p.name, Files: files, Params: v.project(), Chosen: slices.Collect(maps.Keys(v.chosen)),
	}
}

// unapproved says why a policy may not gather a fact that needs an approval, or with a
// nil fact why it is not the approved one. nil means that it may. A shipped policy needs
// no approval as it ships; what the project sets in it is not part of that. In a worktree that
// ralph run made, the approvals of its project count.
func (a *app) unapproved(p policy, v paramValues, files []rules.File, f *rules.Fact) error {
	dir := p.project
	p.project = a.homeOf(dir)
	return a.unapprovedIn(dir, p, v, files, f)
}

// homeOf is the project of a worktree that ralph run made, any other project itself.
func (a *app) homeOf(project string) string {
	own, err := a.store()
	if err != nil {
		return project
	}
	trees, err := filepath.EvalSymlinks(filepath.Join(own.Dir(), worktreesDir))
	if err != nil || filepath.Dir(project) != trees {
		return project
	}
	return cmp.Or(mainTree(project), project)
}

// unapprovedIn is unapproved for programs that run in dir, a worktree of the policy's project.
func (a *app) unapprovedIn(dir string, p policy, v paramValues, files []rules.File, f *rules.Fact) error {
	if p.shipped && len(v.project()) == 0 {
		return nil
	}
	own, err := a.store()
	if err != nil {
		return fmt.Errorf("which is not approved: %w", err)
	}
	if _, ok := own.Approval(p.project, p.name); p.shipped && !ok {
		return &approval.Missing{
			Why: fmt.Sprintf("which is not approved with what %s sets for %s", configFile, p.name),
			Way: ": read it, then run: ralph trust " + p.name,
		}
	}
	what := approvable(p, v, files)
	what.Dir = dir
	return what.Check(own, f)
}

// needsTrust says why facts of a policy are missing until it is approved, nil if none is.
func (a *app) needsTrust(e examined) error {
	for _, f := range sensitive(e.program) {
		if err := a.unapproved(e.policy, e.values, e.program.Files(), f); err != nil {
			return err
		}
	}
	return nil
}

// untrusted says why the loops and settings of a project do not count for hooks of all projects, nil if the user
// trusts it.
func (a *app) untrusted(project string) error {
	own, _ := a.store()
	return approval.Project(own, a.homeOf(project))
}

// shadows is the name of the shipped policy in whose place a policy of the project
// stands, "" if there is none.
func (p policy) shadows() string {
	short := strings.TrimSuffix(path.Base(p.name), path.Ext(p.name))
	if dir := path.Dir(p.name); p.shipped || dir != "." && dir != ".ralph" || !isBuiltin(short) {
		return ""
	}
	return short
}

// approved loads a policy of the project for a hook of the user's own settings. It fails
// unless the user approved the policy as it is.
func (a *app) approved(ctx context.Context, p policy, set []string) (*rules.Program, paramValues, error) {
	v, err := params(p, set)
	if err != nil {
		return nil, v, err
	}
	program, _ := a.loadWith(ctx, p, v)
	if program == nil {
		return nil, v, fmt.Errorf("which cannot be used: ralph check %s", p.name)
	}
	if err := a.unapproved(p, v, program.Files(), nil); err != nil {
		return nil, v, err
	}
	return program, v, nil
}

// isProjects reports whether a name leads to a file of the project, which everybody can
// write who can write to the project. An absolute path is the user's own choice.
func (p policy) isProjects(name string) bool {
	return !p.shipped && filepath.IsLocal(filepath.FromSlash(p.name)) && !filepath.IsAbs(filepath.FromSlash(name))
}

// firstInSession reports whether something is reported in a session for the first time, and
// remembers that. What cannot be remembered is always the first time.
func (a *app) firstInSession(ctx context.Context, ev host.Event, about string) bool {
	s, err := a.store()
	if err != nil || ev.SessionID == "" {
		return true
	}
	key := strings.Join([]string{"reported", ev.Host, ev.SessionID, about}, "\x00")
	unlock, err := s.Lock(ctx, []string{store.MemoryLock(key)})
	if err != nil {
		return true
	}
	defer unlock()
	_, version, err := s.LoadMemory(key)
	if err == nil && version != "" {
		return false
	}
	_ = s.SaveMemory(key, []byte("{}"), version) // else it is reported once more
	return true
}
