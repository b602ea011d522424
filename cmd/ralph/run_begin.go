package main

import (
	"context"
	"fmt"
	"os/signal"
	"runtime/debug"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

// begin starts or resumes a run, and shows it until it ends.
func (a *app) begin(ctx context.Context, p *project.Project, f runFlags, args []string) error {
	interrupt := make(chan struct{})
	q := project.RunRequest{Set: f.set, Said: f.said, Until: f.until, Agent: args, Client: f.client, Worktree: f.worktree != "", Merge: f.worktree == mergeBranch, Resume: f.resume, Answer: f.answer, Watch: a.watch, Interrupt: interrupt}
	var err error
	if q.Limits, err = f.limits.read(f.changed); err != nil {
		return err
	}
	if q.Prompt, err = a.promptOf(p.Dir(), f.prompt, maxPrompt); err != nil {
		return err
	}
	if f.policy != "" {
		q.Policy = p.AtHand(f.policy)
	}
	if f.changed("continue") {
		q.Continue = &f.goOn
	}
	if f.changed("iteration") {
		q.Iteration = &f.iteration
	}
	if _, secret := escape.Secrets(args); secret {
		fmt.Fprintln(a.stderr, "ralph: the command line of the agent names a secret: every program of this machine can read it, and ralph keeps it in its own directory to resume the run; pass it in the environment instead")
	}
	preparing, prepared := signal.NotifyContext(ctx, endSignals()...)
	r, err := p.Run(preparing, q)
	prepared()
	if err != nil {
		return err
	}
	in, running, stop := interruptions(ctx, interrupt)
	defer stop()
	if q.Worktree {
		fmt.Fprintf(a.stderr, "ralph: the agent works in %s, on the branch %s\n", r.Dir, r.Branch)
	}
	debug.SetGCPercent(runGCPercent)
	debug.SetMemoryLimit(runHeap)
	view := a.runView(f, r.Iterations, r.Bounds(), in)
	var last run.Event
	for last = range r.Events(running) {
		view.event(last)
	}
	view.close()
	a.status = runStatus(last.Ended)
	if last.Seq > 0 && f.format == "text" {
		if advice := r.Advice(context.WithoutCancel(ctx)); advice != "" {
			fmt.Fprintln(a.stdout, escape.Line(advice))
		}
	}
	ctx, cancel := signal.NotifyContext(context.WithoutCancel(ctx), endSignals()...) // the run has ended
	defer cancel()
	if f.notify != "" {
		defer a.notify(ctx, f.notify, p.Dir(), last)
	}
	if r.Branch == "" {
		return nil
	}
	switch branch, err := r.Merge(ctx, last.Ended); {
	case err != nil:
		fmt.Fprintf(a.stderr, "ralph: the branch was not merged: %v\n", err)
	case branch == r.Branch:
		fmt.Fprintf(a.stderr, "ralph: the work is on the branch %s in %s\n", branch, r.Dir)
	default:
		fmt.Fprintf(a.stderr, "ralph: merged %s into %s\n", r.Branch, branch)
	}
	return nil
}
