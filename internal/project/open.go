package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/rules"
)

// Settings say how a policy is used.
type Settings struct {
	Params       map[string]string
	OnlyApproved bool // the policy of a project counts only when it is approved
	Whole        bool // compile every expression, not only those that are reached
	Typed        bool // a person typed what reaches beyond the project: nothing needs approval
	Quiet        bool // start no program and ask no model
	Loop         []loop.Option

	several bool // Params are for several policies
}

// Parse reads a policy file of a project.
func (p Project) Parse(f File, s Settings) (*rules.Policy, error) {
	return rules.Options{Files: files(p.Root), Params: s.Params, MoreParams: s.several, Lazy: !s.Whole}.Parse(f.Shown(p), f.Source)
}

// Open returns the loop of a policy in a project.
func (h *Home) Open(ctx context.Context, p Project, f File, s Settings) (*loop.Loop, error) {
	if s.OnlyApproved {
		if ok, err := h.Approved(ctx, f); err != nil {
			return nil, err
		} else if !ok {
			return nil, fmt.Errorf("the policy %s of this project needs your approval: run ralph trust %s in a terminal of your own", f.Path, f.Name)
		}
	}
	policy, err := p.Parse(f, s)
	if err != nil {
		return nil, err
	}
	opts := append([]loop.Option{loop.WithRoot(p.Root), loop.WithStore(h.Store)}, s.Loop...)
	opts = append(opts, loop.WithApproval(func() string { return h.why(ctx, f, policy) }))
	if f.Path == "" || s.Typed {
		opts = append(opts, loop.WithAllow("all"))
	}
	if slices.ContainsFunc(policy.Facts, func(f *rules.Fact) bool { return f.Source == "judge" }) {
		opts = append(opts, judge.Option())
	}
	if s.Quiet {
		opts = append(opts, loop.WithSource("exec", quiet), loop.WithSource("judge", quiet))
	}
	return loop.New(policy, opts...)
}

func quiet(context.Context, loop.Event, rules.Query) (any, error) {
	return nil, errors.New("no program is started and no model is asked now")
}

// noPolicy is a policy for what concerns all policies of a project.
const noPolicy = "ralph: 1\nrules: [{name: none, log: none}]\n"

// Stops returns a loop that decides nothing, for what a person switches off: all policies of a project, or one of a name. The policy itself
// may be one that cannot be used.
func (h *Home) Stops(p Project, name string, opts ...loop.Option) (*loop.Loop, error) {
	policy, err := rules.Parse(strings.TrimSuffix(name, ".yaml")+".yaml", []byte(noPolicy))
	if err != nil {
		return nil, err
	}
	return loop.New(policy, append(opts, loop.WithRoot(p.Root), loop.WithStore(h.Store))...)
}

// why returns why a policy may not reach beyond the project, or "" if a person approved it.
func (h *Home) why(ctx context.Context, f File, policy *rules.Policy) string {
	ok, err := h.Approved(ctx, f)
	switch {
	case f.Path == "":
		return fmt.Sprintf("%s is shipped with ralph and starts no program that PATH finds inside the project: approve one of your own, with ralph init %s in a terminal of your own",
			f.Name, f.Name)
	case err != nil:
		return err.Error()
	case ok:
		return ""
	}
	return fmt.Sprintf("%s (%s) needs your approval: run ralph trust %s in a terminal of your own", f.Path, strings.Join(policy.Reaches(), ", "), f.Name)
}

// files is a project's root as the file system of schemas, read as files of facts are.
type files string

// Open reads a whole file, so that a FIFO or a link that leaves the project is an error.
func (dir files) Open(name string) (fs.File, error) {
	f, err := read(string(dir), name)
	if err != nil {
		return nil, err
	}
	return fstest.MapFS{name: {Data: f.Source}}.Open(name)
}
