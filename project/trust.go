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

// Approval is what a user approved: a policy of a project in its version of that time, or the project.
type Approval struct {
	Project  string            `json:"project"`
	Policy   string            `json:"policy,omitempty"` // "" is the project: its loops and settings count for hooks of all projects
	Files    []Covered         `json:"files,omitempty"`  // the policy first
	Programs []Covered         `json:"programs,omitempty"`
	Params   map[string]string `json:"params,omitempty"` // values in the project's configuration
	Loop     *Covered          `json:"loop,omitempty"`   // covers only this loop of the policy, which ralph start wrote
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
	return Approval{a.Root, a.Policy, covered(a.Files), covered(a.Programs), a.Params, (*Covered)(a.Loop), a.At}
}

// stored returns the approval in the form in which it is kept.
func (a Approval) stored() store.Approval {
	covered := func(all []Covered) (out []store.Covered) {
		for _, c := range all {
			out = append(out, store.Covered(c))
		}
		return out
	}
	return store.Approval{Root: a.Project, Policy: a.Policy, Files: covered(a.Files), Programs: covered(a.Programs), Params: a.Params, Loop: (*store.Covered)(a.Loop), At: a.At}
}

// Use is what an approval allows a policy to do: run a program, or call a model.
type Use struct {
	Name string // of the fact
	Pos  rules.Pos
	Kind string   // such as "runs a program"
	What string   // the command line, or the question
	Open []string // what it runs or reads in the project that no approval covers, which an agent can change
}

// Uses returns the programs and questions of a loaded policy in the project, including the agent that ralph run starts.
func (p *Project) Uses(policy Policy) (uses []Use) {
	for _, f := range p.needApproval(policy.Program) {
		use := Use{f.Name, f.Pos, f.Source.Trust, asked(f), approval.Policy{Root: p.dir}.Open(f)}
		if run := policy.Program.Run; run != nil && f == run.Agent {
			for _, name := range setup.Starting(p.dir) {
				use.Open = append(use.Open, "what hooks and servers in "+name+" run in this project")
			}
		}
		uses = append(uses, use)
	}
	return uses
}

// asked returns the program or question of a fact, as written.
func asked(f *rules.Fact) string {
	if f.Source.Argument == "words" {
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

// sensitive returns the facts and the programs of effects that need approval.
func sensitive(p *rules.Program) []*rules.Fact {
	all := slices.DeleteFunc(p.Facts(), func(f *rules.Fact) bool { return f.Source.Trust == "" })
	for _, r := range p.Rules() {
		all = append(all, r.Runs...)
	}
	return all
}

// needApproval returns the sensitive facts, and the agent that ralph run starts in the project.
func (p *Project) needApproval(program *rules.Program) []*rules.Fact {
	all := sensitive(program)
	if program.Run != nil && program.Run.Agent != nil {
		all = append(all, program.Run.Agent)
	}
	return all
}

// approvable returns a policy in the form of approvals, in the project at root.
func approvable(root string, policy Policy, files []rules.File) approval.Policy {
	return approval.Policy{
		Root: root, Name: policy.Name, Files: files, Params: policy.params.project(), Chosen: slices.Collect(maps.Keys(policy.params.chosen)),
	}
}

// NoNeedError reports that a policy needs no approval.
type NoNeedError struct{ Policy, Why string }

// Error returns the message.
func (e *NoNeedError) Error() string { return e.Policy + " " + e.Why }

// Approvable returns what an approval of the current version of a loaded policy covers. The error may be a
// [*NoNeedError].
func (p *Project) Approvable(policy Policy) (Approval, error) {
	need := p.needApproval(policy.Program)
	switch {
	case policy.Shipped && len(policy.params.project()) == 0:
		return Approval{}, &NoNeedError{policy.Name, "ships with ralph and needs no approval"}
	case policy.Shipped && len(need) == 0:
		return Approval{}, &NoNeedError{policy.Name, "neither runs programs nor asks models, so it needs no approval"}
	}
	var settings []string
	if run := policy.Program.Run; run != nil && run.Agent != nil {
		settings = setup.Starting(p.dir)
	}
	approved, err := approvable(p.dir, policy, policy.Program.Files()).Approval(need, settings...)
	return approvalOf(approved), err
}

// Approve stores an approval that [Project.Approvable] returned. A person must have read it.
func (p *Project) Approve(a Approval) error {
	a.At = p.now().UTC()
	return p.orders.Approve(a.stored())
}

// Revoke withdraws the approval of a policy, and reports whether there was one. The policy may have changed, be broken,
// or no longer exist.
func (p *Project) Revoke(name string) (bool, error) {
	file, _ := policyFile(p.dir, name)
	if found, err := p.Find(name); err == nil {
		file = found.Name
	}
	return p.orders.Revoke(p.dir, file)
}

// Trust records that the user trusts the project, and reports whether that is new: its loops and settings then count
// for hooks of all projects.
func (p *Project) Trust() (bool, error) { return p.orders.Trust(p.dir, p.now()) }

// Distrust withdraws all approvals and the trust of the project. It reports whether there were any.
func (p *Project) Distrust() (any bool, err error) {
	approvals, err := p.Approvals()
	for _, a := range approvals {
		if _, err := p.orders.Revoke(a.Project, a.Policy); err != nil {
			return any, err
		}
		any = true
	}
	return any, err
}

// Approvals returns what the user approved, latest first: in the project, or without a project in all.
func (p *Project) Approvals() (all []Approval, err error) {
	approvals, err := p.orders.Approvals()
	for _, a := range approvals {
		if p.dir == "" || a.Root == p.dir {
			all = append(all, approvalOf(a))
		}
	}
	return all, err
}

// unapproved returns why a policy may not gather a fact that needs approval, or with a nil fact why the policy is not
// approved; nil means approved. A shipped policy needs no approval in its shipped form, which excludes what the project
// sets in it. Programs run in dir, the project or a worktree of it. In a worktree that ralph run created, the approvals
// of its project count. also are more files on which the fact depends.
func (p *Project) unapproved(policy Policy, dir string, files []rules.File, f *rules.Fact, also ...string) error {
	if policy.Shipped && len(policy.params.project()) == 0 {
		return nil
	}
	home := p.home()
	if policy.Shipped {
		if _, ok := p.orders.Approval(home, policy.Name); !ok {
			return &approval.Missing{
				Why: fmt.Sprintf("which is not approved with what %s sets for %s", ConfigFile, policy.Name),
				Way: ": read it, then run `ralph trust " + policy.Name + "`",
			}
		}
	}
	what := approvable(home, policy, files)
	what.Dir = dir
	return what.Check(p.orders, f, also...)
}

// worktreesDir is the directory of runs' worktrees, within the directory of ralph's own files.
const worktreesDir = "worktrees"

// home returns the project of a worktree that ralph run created, otherwise the project itself.
func (p *Project) home() string {
	trees, err := filepath.EvalSymlinks(p.Trees())
	if err != nil || filepath.Dir(p.dir) != trees {
		return p.dir
	}
	return cmp.Or(p.mainTree(p.dir), p.dir)
}

// Unapproved returns why a loaded policy is not approved, or nil.
func (p *Project) Unapproved(policy Policy) error {
	return p.unapproved(policy, p.dir, policy.Program.Files(), nil)
}

// Untrusted returns why facts of a loaded policy are missing until it is approved, or nil.
func (p *Project) Untrusted(policy Policy) error {
	for _, f := range sensitive(policy.Program) {
		if err := p.unapproved(policy, p.dir, policy.Program.Files(), f); err != nil {
			return err
		}
	}
	return nil
}

// Distrusted returns why the project's loops and settings do not count for hooks of all projects, or nil if the user
// trusts it.
func (p *Project) Distrusted() error { return approval.Project(p.orders, p.home()) }

// WhyNot returns why something is not approved or trusted, without what to do.
func WhyNot(unapproved error) string {
	if missing := (*approval.Missing)(nil); errors.As(unapproved, &missing) {
		return missing.Why
	}
	return unapproved.Error()
}

// openApproved finds and loads a policy of the project for a hook in the user's own settings. It returns an error
// unless the user approved the current version.
func (p *Project) openApproved(ctx context.Context, found Policy, l Load) (Policy, error) {
	found, err := p.Load(ctx, found, l)
	if bad := (*UnusableError)(nil); errors.As(err, &bad) {
		err = fmt.Errorf("which cannot be used: ralph check %s", found.Name)
	}
	if err == nil {
		err = p.Unapproved(found)
	}
	return found, err
}

// Interpreters returns the programs for which an approval covers the file or the directory that their command line
// names.
func Interpreters() []string { return approval.Interpreters() }
