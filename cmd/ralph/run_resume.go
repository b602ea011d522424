package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/worktree"
	"github.com/ralph-sdk/ralph/run"
)

// resumed prepares to go on with a run.
func (a *app) resumed(ctx context.Context, own *store.Store, project string, f runFlags, args []string) (r aRun, err error) {
	if len(args) > 0 || f.policy != "" || f.prompt != "" || f.until != "" || f.worktree || f.merge || f.changed("continue") || f.client != "" || len(f.set) > 0 || f.changed("iteration") {
		return r, errors.New("a run is resumed as it was started; give limits only")
	}
	info, err := a.runToResume(own, project, f.resume)
	if err != nil {
		return r, err
	}
	r = aRun{flags: f, home: info.Home, project: info.Root, args: info.Command, prompt: info.Prompt, max: info.Limits.Iterations, options: []run.Option{run.Resume(info.ID)}}
	r.flags.policy, r.flags.client = info.Labels["policy"], info.Client
	for i := 0; ; i++ {
		s, ok := info.Labels["set "+strconv.Itoa(i)]
		if !ok {
			break
		}
		r.flags.set = append(r.flags.set, s)
	}
	if branch := info.Labels["branch"]; branch != "" {
		r.tree = worktree.Tree{Main: info.Home, Dir: info.Root, Branch: branch, Base: info.Labels["base"]}
		r.flags.merge = info.Labels["merge"] == "true"
		if _, err := os.Stat(info.Root); errors.Is(err, fs.ErrNotExist) {
			return r, fmt.Errorf("the worktree of the run is gone; make it again from what was committed there: git worktree add --force %s %s",
				shellwords.Quote(runtime.GOOS, info.Root), shellwords.Quote(runtime.GOOS, branch))
		}
	}
	if err := a.runPolicy(ctx, &r); err != nil {
		return r, err
	}
	r.ofPolicy = info.Labels[agentOfPolicy] != ""
	return r, nil
}

// runToResume finds the run that --resume names.
func (a *app) runToResume(own *store.Store, project, id string) (run.Info, error) {
	if id != latestRun {
		info, err := runNamed(own, id)
		if err == nil && info.Running {
			err = fmt.Errorf("run %s is running; watch it with: ralph run --attach %[1]s", id)
		}
		return info, err
	}
	all, err := run.List(own.Dir(), project)
	if err != nil {
		return run.Info{}, err
	}
	for _, info := range all {
		if !info.Running && info.Ended != run.Success {
			return info, nil
		}
	}
	return run.Info{}, fmt.Errorf("there is no run to resume in %s; see: ralph run --list", project)
}
