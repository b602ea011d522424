package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

// watchInterval is how often files are looked at: often enough to feel at once,
// seldom enough to cost nothing.
const watchInterval = 300 * time.Millisecond

// watchTests runs the tests again whenever a file beneath the paths has changed,
// until the user ends it. Its exit status is that of the last run that
// was not interrupted.
func (a *app) watchTests(ctx context.Context, paths []string, once func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	for {
		seen := fingerprint(paths)
		before := a.status
		err := once(ctx)
		if ctx.Err() != nil {
			a.status = before
			return nil
		}
		if err != nil {
			fmt.Fprintf(a.stderr, "ralph: %s\n", err)
			a.status = exitFailed
		}
		fmt.Fprintln(a.stdout, "---- waiting for changes, ctrl-c ends")
		for fingerprint(paths) == seen {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(watchInterval):
			}
		}
	}
}

// fingerprint stands for the policies, tests and schemas beneath the paths as they
// are now. Beside a file that is named, its folder counts.
func fingerprint(paths []string) uint64 {
	h := fnv.New64a()
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			p = filepath.Dir(p)
		}
		_ = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case d.IsDir() && name != p && skipped(d.Name()):
				return filepath.SkipDir
			case d.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
				return nil
			}
			if info, err := d.Info(); err == nil {
				fmt.Fprintln(h, name, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return h.Sum64()
}
