package run

import (
	"io/fs"
	"os"
	"time"
)

// What is kept of old runs of a project. The latest ones are kept first.
const (
	maxAge  = 30 * 24 * time.Hour
	maxKept = 1 << 30 // bytes of all folders
)

// prune forgets old runs of the project. It is best effort: what cannot be removed now is removed another time.
func (r *Runner) prune() {
	all, _ := List(r.disk.Dir(), r.plan.Home)
	project, err := os.OpenRoot(r.plan.Home)
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
		if info.ID == r.plan.ID || info.Running {
			continue
		}
		left -= size(runs, info.ID)
		if left >= 0 && r.now().Sub(info.Latest) < maxAge {
			continue
		}
		if runs.RemoveAll(info.ID) == nil { // first, so that what is left is found again
			_ = r.disk.RemoveRun(info.ID)
		}
	}
}

// size is how many bytes the files of a run have.
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
