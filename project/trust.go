package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// Approval says what a user approved: a policy of a project as it was then, or the project.
type Approval struct {
	Project  string            `json:"project"`
	Policy   string            `json:"policy,omitempty"` // "" is the project: its loops and settings count for hooks of all projects
	Files    []Covered         `json:"files,omitempty"`  // the policy first
	Programs []Covered         `json:"programs,omitempty"`
	Params   map[string]string `json:"params,omitempty"` // values that the project's configuration gives
	At       time.Time         `json:"at"`
}

// Covered is a file that an approval covers.
type Covered struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

func approvalOf(a store.Approval) Approval {
	covered := func(all []store.Covered) (out []Covered) {
		for _, c := range all {
			out = append(out, Covered(c))
		}
		return out
	}
	return Approval{a.Root, a.Policy, covered(a.Files), covered(a.Programs), a.Params, a.At}
}

// Use is what an approval lets a policy do: run a program, or ask a model.
type Use struct {
	Name string // of the fact
	Pos  rules.Pos
	Kind string // such as "runs a program"
	What string // the command line, or what is asked
}

// Uses lists what a loaded policy runs and asks, in the project: also the agent that ralph run starts.
func (p *Project) Uses(policy Policy) (uses []Use) {
	for _, f := range p.needApproval(policy.Program) {
		uses = append(uses, Use{f.Name, f.Pos, f.Source.Trust, asked(f)})
	}
	return uses
}

// asked is what a fact runs or asks, as the policy writes it.
func asked(f *rules.Fact) string {
	if f.Source.Argv {
		return shellwords.Line(f.Args)
	}
	options := map[string]string{}
	for name, v := range f.Options {
		options[name] = fmt.Sprint(v)
	}
	maps.Copy(options, f.Texts)
	words := f.Args
	for _, name := range slices.Sorted(maps.Keys(options)) {
		words = append(words, name+": "+options[name])
	}
	return strings.Join(words, ", ")
}

// sensitive are the facts and the programs of effects that need an approval.
func sensitive(p *rules.Program) []*rules.Fact {
	all := slices.DeleteFunc(p.Facts(), func(f *rules.Fact) bool { return f.Source.Trust == "" })
	for _, r := range p.Rules() {
		all = append(all, r.Runs...)
	}
	return all
}

// needApproval are the sensitive facts, and the agent that ralph run starts in the project.
func (p *Project) needApproval(program *rules.Program) []*rules.Fact {
	all := sensitive(program)
	if program.Run != nil && program.Run.Agent != nil {
		all = append(all, agent(*program.Run.Agent, p.dir))
	}
	return all
}

// agent is the agent that a policy names, with what clients run by themselves in a directory.
func agent(agent rules.Fact, dir string) *rules.Fact {
	agent.Known = append(slices.Clone(agent.Args), setup.Started(dir)...)
	return &agent
}

// approvable is a policy as approvals know it, in the project at root.
func approvable(root string, policy Policy, files []rules.File) approval.Policy {
	return approval.Policy{
		Root: root, Name: policy.Name, Files: files, Params: policy.params.project(), Chosen: slices.Collect(maps.Keys(policy.params.chosen)),
	}
}

// NoNeedError says that a policy needs no approval.
type NoNeedError struct{ Policy, Why string }

// Error returns a sentence.
func (e *NoNeedError) Error() string { return e.Policy + " " + e.Why }

// Approve approves a loaded policy as it is now. The error may be a [*NoNeedError].
func (p *Project) Approve(policy Policy) (Approval, error) {
	need := p.needApproval(policy.Program)
	switch {
	case policy.Shipped && len(policy.params.project()) == 0:
		return Approval{}, &NoNeedError{policy.Name, "ships with ralph and needs no approval"}
	case policy.Shipped && len(need) == 0:
		return Approval{}, &NoNeedError{policy.Name, "neither runs programs nor asks models, so it needs no approval"}
	}
	approved, err := approvable(p.dir, policy, policy.Program.Files()).Approval(need)
	if err == nil {
		approved.At = p.now().UTC()
		err = p.own.Approve(approved)
	}
	return approvalOf(approved), err
}

// Revoke withdraws the approval of a policy, and reports whether there was one. The policy may have changed since, may be
// broken, or may be gone.
func (p *Project) Revoke(name string) (bool, error) {
	file, _ := policyFile(p.dir, name)
	if found, err := p.Find(name); err == nil {
		file = found.Name
	}
	return p.own.Revoke(p.dir, file)
}

// Trust keeps that the user trusts the project, and reports whether that is new: its loops and settings then count for hooks
// of all projects.
func (p *Project) Trust() (bool, error) { return p.own.Trust(p.dir, p.now()) }

// Distrust withdraws all approvals of the project, and that it is trusted. It reports whether there was any.
func (p *Project) Distrust() (any bool, err error) {
	approvals, err := p.Approvals()
	for _, a := range approvals {
		if _, err := p.own.Revoke(a.Project, a.Policy); err != nil {
			return any, err
		}
		any = true
	}
	return any, err
}

// Approvals lists what the user approved, the latest first: in the project, or without one in all.
func (p *Project) Approvals() (all []Approval, err error) {
	approvals, err := p.own.Approvals()
	for _, a := range approvals {
		if p.dir == "" || a.Root == p.dir {
			all = append(all, approvalOf(a))
		}
	}
	return all, err
}

// unapproved says why a policy may not gather a fact that needs an approval, or with a nil fact why it is not the approved
// one. nil means that it may. A shipped policy needs no approval as it ships; what the project sets in it is not part of
// that. Programs run in dir, the project or a worktree of it. In a worktree that ralph run made, the approvals of its project
// count.
func (p *Project) unapproved(policy Policy, dir string, files []rules.File, f *rules.Fact) error {
	if policy.Shipped && len(policy.params.project()) == 0 {
		return nil
	}
	home := p.home()
	if policy.Shipped {
		if _, ok := p.own.Approval(home, policy.Name); !ok {
			return &approval.Missing{
				Why: fmt.Sprintf("which is not approved with what %s sets for %s", ConfigFile, policy.Name),
				Way: ": read it, then run: ralph trust " + policy.Name,
			}
		}
	}
	what := approvable(home, policy, files)
	what.Dir = dir
	return what.Check(p.own, f)
}

// worktreesDir holds the worktrees of runs, in the directory of ralph's own files.
const worktreesDir = "worktrees"

// home is the project of a worktree that ralph run made, any other project itself.
func (p *Project) home() string {
	trees, err := filepath.EvalSymlinks(filepath.Join(p.own.Dir(), worktreesDir))
	if err != nil || filepath.Dir(p.dir) != trees {
		return p.dir
	}
	return cmp.Or(p.mainTree(p.dir), p.dir)
}

// Unapproved says why a loaded policy is not the approved one, nil if it is.
func (p *Project) Unapproved(policy Policy) error {
	return p.unapproved(policy, p.dir, policy.Program.Files(), nil)
}

// Untrusted says why facts of a loaded policy are missing until it is approved, nil if none is.
func (p *Project) Untrusted(policy Policy) error {
	for _, f := range sensitive(policy.Program) {
		if err := p.unapproved(policy, p.dir, policy.Program.Files(), f); err != nil {
			return err
		}
	}
	return nil
}

// Distrusted says why the loops and settings of the project do not count for hooks of all projects, nil if the user trusts it.
func (p *Project) Distrusted() error { return approval.Project(p.own, p.home()) }

// WhyNot returns why something is not approved or trusted, without what to do.
func WhyNot(unapproved error) string {
	if missing := (*approval.Missing)(nil); errors.As(unapproved, &missing) {
		return missing.Why
	}
	return unapproved.Error()
}

// OpenApproved finds and loads a policy of the project for a hook of the user's own settings. It fails unless the user
// approved the policy as it is.
func (p *Project) OpenApproved(ctx context.Context, found Policy, l Load) (Policy, error) {
	found, err := p.Load(ctx, found, l)
	if bad := (*UnusableError)(nil); errors.As(err, &bad) {
		err = fmt.Errorf("which cannot be used: ralph check %s", found.Name)
	}
	if err == nil {
		err = p.Unapproved(found)
	}
	return found, err
}
