package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/worktree"
)

// worktreesDir holds the worktrees of runs, in ralph's own directory.
const worktreesDir = "worktrees"

// plant makes the worktree of a run. It has only what is committed, so the files that the policy reads must be.
func (a *app) plant(ctx context.Context, own *store.Store, r *aRun) error {
	ctx, stop := signal.NotifyContext(ctx, endSignals()...)
	defer stop()
	var files []string
	for _, f := range r.program.Facts() {
		for _, path := range f.Args {
			if f.Source.Path && !strings.Contains(path, "${") {
				files = append(files, path)
			}
		}
	}
	missing, err := worktree.Missing(ctx, r.home, files)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("the policy reads %s, which git does not have at HEAD, so a worktree would lack it: commit it first", strings.Join(missing, ", "))
	}
	id := strings.ToLower(rand.Text()[:8])
	tree, err := worktree.Add(ctx, r.home, filepath.Join(own.Dir(), worktreesDir, filepath.Base(r.home)+"-"+id), "ralph/"+id)
	if err != nil {
		return err
	}
	r.tree, r.project = tree, tree.Dir
	fmt.Fprintf(a.stderr, "ralph: the agent works in %s, on the branch %s\n", tree.Dir, tree.Branch)
	return nil
}

// discard removes the worktree of a run that did not start.
func (r aRun) discard(ctx context.Context) error {
	if r.tree.Dir == "" || r.flags.resume != "" {
		return nil
	}
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), endSignals()...)
	defer stop()
	return r.tree.Remove(ctx)
}

// bringBack merges the branch of a run, or says where it is.
func (a *app) bringBack(ctx context.Context, t worktree.Tree, merge bool) {
	if !merge {
		fmt.Fprintf(a.stderr, "ralph: the work is on the branch %s in %s\n", t.Branch, t.Dir)
		return
	}
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), endSignals()...) // of the run, which has ended
	defer stop()
	if err := t.Merge(ctx); err != nil {
		fmt.Fprintf(a.stderr, "ralph: the branch was not merged: %v\n", err)
		return
	}
	fmt.Fprintf(a.stderr, "ralph: merged %s into %s\n", t.Branch, t.Base)
}
