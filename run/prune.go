package run

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"time"
)

// Bounds on what is kept of a project's old runs. The latest are kept first.
const (
	maxAge  = 30 * 24 * time.Hour
	maxKept = 1 << 30 // bytes in all directories
)

// prune removes old runs of the project. It is best effort: the next run tries again.
func (r *Runner) prune() {
	ctx, cancel := inTime(context.Background())
	defer cancel()
	all, _ := r.kept.runs.list(ctx, r.plan.Home)
	files := cmp.Or(r.plan.Files, r.plan.Home)
	project, err := os.OpenRoot(files)
	if err != nil {
		return
	}
	defer project.Close()
	runs, err := project.OpenRoot(Dir)
	if err != nil {
		return
	}
	defer runs.Close()
	left := int64(maxKept)
	for _, info := range all {
		if info.ID == r.plan.ID || info.Running || info.Files != files {
			continue
		}
		left -= size(runs, info.ID)
		if left >= 0 && r.clock.now().Sub(info.Latest) < maxAge {
			continue
		}
		if runs.RemoveAll(info.ID) == nil { // remove it first, so that an incomplete removal is found again
			_ = r.kept.runs.orders(ctx).RemoveRun(info.ID)
		}
	}
}

// size returns the total size of a run's files.
func size(runs *os.Root, id string) (n int64) {
	entries, err := fs.ReadDir(runs.FS(), id)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}
