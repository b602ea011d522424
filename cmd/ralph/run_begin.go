package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/internal/worktree"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// aRun is a run about to start: what the flags say, or what is kept of the run to resume.
type aRun struct {
	flags   runFlags
	home    string // the project
	project string // where the agent works: the project, or the worktree
	args    []string
	// ofPolicy is that the policy names the agent, not the user.
	ofPolicy bool
	prompt   string
	max      int           // iterations of the run to resume
	tree     worktree.Tree // the zero Tree if it has none
	options  []run.Option

	policy  policy // the zero policy if a prompt is the policy
	values  paramValues
	program *rules.Program
}

// begin starts a run, or goes on with one, and shows it until it ends.
func (a *app) begin(ctx context.Context, own *store.Store, project string, f runFlags, args []string) error {
	if err := own.Refused(project); err != nil {
		return err
	}
	limits, err := f.limits()
	if err != nil {
		return err
	}
	if why, off := workspace.Off("", a.getenv); off {
		return fmt.Errorf("%s: it turns loops off, and runs too", why)
	}
	var r aRun
	if f.resume != "" {
		r, err = a.resumed(ctx, own, project, f, args)
	} else {
		r, err = a.fresh(ctx, own, project, f, args)
	}
	if err != nil {
		return errors.Join(err, r.discard(ctx))
	}
	adapter, err := clientOf(r.flags.client, r.args)
	if err != nil {
		return errors.Join(err, r.discard(ctx))
	}
	if r.ofPolicy {
		adapter = approvedAgent{adapter, func() error { return a.agentApproved(r) }}
	}
	in, ctx, stop := interruptions(ctx)
	defer stop()
	show := a.runView(f, cmp.Or(f.max, r.max), in)
	last, err := a.show(ctx, own, r, adapter, limits, in.first, show)
	show.close()
	if err != nil {
		return errors.Join(err, r.discard(ctx))
	}
	a.status = runStatus(last.Ended)
	if r.tree.Dir != "" {
		a.bringBack(ctx, r.tree, r.flags.merge && last.Ended == run.Success)
	}
	return a.notify(ctx, f.notify, last)
}

// show runs a run and shows its events. It gives the last one.
func (a *app) show(ctx context.Context, own *store.Store, r aRun, client run.Adapter, limits run.Limits, interrupt <-chan struct{}, view *runView) (last run.Event, err error) {
	var runner *run.Runner
	name := cmp.Or(r.policy.name, promptName)
	runner, err = run.New(r.program, client, append(r.options,
		run.WithName(name), run.WithState(own.Dir()), run.WithProject(loop.LocalStore(own.Dir())), run.WithLimits(limits), run.WithInterrupt(interrupt),
		run.WithControl(a.runControl(own, r.home, name, func() string { return runner.ID() })), run.WithLoop(append(a.loopOptions(), loop.WithTrust(r.trust(a)))...),
	)...)
	if err != nil {
		return last, err
	}
	if err := own.EndRun(runner.ID(), false); err != nil {
		return last, err
	}
	debug.SetGCPercent(runGCPercent)
	debug.SetMemoryLimit(runHeap)
	for ev := range runner.Run(ctx) {
		view.event(ev)
		last = ev
	}
	return last, nil
}

// fresh prepares a new run.
func (a *app) fresh(ctx context.Context, own *store.Store, project string, f runFlags, args []string) (r aRun, err error) {
	r = aRun{flags: f, home: project, project: project, args: args}
	if f.merge && !f.worktree {
		return r, errors.New("--merge is for --worktree")
	}
	if r.prompt, err = a.runPrompt(project, f.prompt); err != nil {
		return r, err
	}
	switch {
	case f.policy != "":
		r.flags.policy = atHand(project, f.policy)
	case r.prompt == "":
		r.flags.policy = workspace.DefaultPolicy
	case len(f.set) > 0:
		return r, errors.New("--set is for --policy: a prompt has no params")
	case len(r.prompt) > maxRepeated:
		return r, fmt.Errorf("without --policy the prompt has at most %d KiB, since a policy repeats it: have it name a file to read", maxRepeated>>10)
	}
	if err := a.runPolicy(ctx, &r); err != nil {
		return r, err
	}
	if err := r.defaults(); err != nil {
		return r, err
	}
	if f.worktree {
		if err := a.plant(ctx, own, &r); err != nil {
			return r, err
		}
	}
	labels := map[string]string{"policy": r.flags.policy}
	for i, s := range f.set {
		labels["set "+strconv.Itoa(i)] = s
	}
	if r.tree.Dir != "" {
		labels["branch"], labels["base"], labels["merge"] = r.tree.Branch, r.tree.Base, strconv.FormatBool(f.merge)
	}
	if r.ofPolicy {
		labels[agentOfPolicy] = "true"
	}
	r.options = append(r.options,
		run.WithDir(r.project), run.WithHome(project), run.WithArgs(r.args...), run.WithPrompt(r.prompt), run.WithUntil(f.until), run.WithLabels(labels))
	return r, nil
}

// agentOfPolicy labels a run whose command line is that of the policy.
const agentOfPolicy = "agent of the policy"

// defaults takes what the user's flags leave to the policy.
func (r *aRun) defaults() error {
	iteration, fresh := r.flags.iteration, !r.flags.goOn
	if d := r.program.Run; d != nil {
		if !r.flags.changed("iteration") {
			iteration = d.Iteration
		}
		if !r.flags.changed("continue") {
			fresh = d.Fresh
		}
		if r.ofPolicy = len(r.args) == 0 && d.Agent != nil; r.ofPolicy {
			r.args = d.Agent.Args
		}
	}
	if iteration != 0 || r.flags.changed("iteration") {
		r.options = append(r.options, run.WithIteration(iteration))
	}
	if !fresh {
		r.options = append(r.options, run.WithContinue())
	}
	if len(r.args) == 0 {
		return errors.New("there is no agent to run: write its command line behind --, such as: ralph run --policy speckit -- claude -p")
	}
	return nil
}

// approvedAgent is the agent that a policy names. What it runs must be approved as it is at each start: an agent can change it.
type approvedAgent struct {
	run.Adapter
	approved func() error
}

func (g approvedAgent) Command(i run.Invocation) (run.Command, error) {
	if err := g.approved(); err != nil {
		return run.Command{}, err
	}
	return g.Adapter.Command(i)
}

// agentApproved says why an agent that a policy names is not started. The agent of a run is the one with which it was started.
func (a *app) agentApproved(r aRun) error {
	agent := startedAgent(r.project, rules.Fact{Source: rules.SourceKind{Argv: true, Trust: "runs a program"}, Args: r.args})
	if err := a.unapprovedIn(r.project, r.policy, r.values, r.program.Files(), agent); err != nil {
		return fmt.Errorf("the policy %s names the agent, %w", r.policy.name, err)
	}
	return nil
}

// runPolicy loads the policy of a run, or makes the one of a prompt. A worktree has the policies of its project.
func (a *app) runPolicy(ctx context.Context, r *aRun) (err error) {
	if r.flags.policy == "" {
		var diags rules.Diagnostics
		r.program, diags = rules.LoadBytes(ctx, promptName, []byte(promptPolicy), rules.Config{Set: map[string]string{"text": r.prompt}})
		if r.program == nil {
			return diags.Err()
		}
		return nil
	}
	if r.policy, err = findPolicy(r.home, r.flags.policy); err != nil {
		return err
	}
	if r.values, err = params(r.policy, r.flags.set); err != nil {
		return err
	}
	var diags rules.Diagnostics
	if r.program, diags = a.loadWith(ctx, r.policy, r.values); r.program == nil {
		return unusable(r.flags.policy, diags)
	}
	return nil
}

// trust says what the policy may run: what is approved for its project, as it is where the agent works.
func (r aRun) trust(a *app) func(*rules.Fact, []rules.File) error {
	if r.flags.policy == "" {
		return nil
	}
	return func(fact *rules.Fact, files []rules.File) error {
		return a.unapprovedIn(r.project, r.policy, r.values, files, fact)
	}
}

// promptPolicy gives the same prompt again and again: the limits of the run end it.
const (
	promptName   = "prompt"
	promptPolicy = `ralph: 1
description: One prompt, again and again.
params:
  text: {default: "", description: The prompt.}
limits: {continuations: 10000, total: 100000, elapsed: 720h}
rules:
  - name: again
    continue: ${text}
`
)

func clientNames() []string {
	var names []string
	for _, c := range run.Clients() {
		names = append(names, c.Name())
	}
	return names
}

// clientOf is the adapter of a name, or without one that of the program.
func clientOf(name string, args []string) (run.Adapter, error) {
	if name == "" {
		return run.ClientOf(args), nil
	}
	for _, c := range run.Clients() {
		if c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("--client is %s, not %q", alternatives(clientNames()), name)
}
