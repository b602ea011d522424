package temporal

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// portable returns an error for a policy whose facts read what does not move with the commits of a run: files that git
// ignores, and files outside of the repository at dir.
func portable(ctx context.Context, dir string, p *rules.Program) error {
	var staying []string
	for _, f := range p.Facts() {
		if f.Source.Argument != "path" && f.Source.Argument != "pattern" {
			continue
		}
		for _, path := range f.Args {
			if stays(ctx, dir, path) && !slices.Contains(staying, path) {
				staying = append(staying, path)
			}
		}
	}
	if len(staying) > 0 {
		return fmt.Errorf("the policy reads %s, which git ignores or which is outside of the repository: only commits move between machines, so have git track it, or use `ralph run`", strings.Join(staying, ", "))
	}
	return nil
}

// stays reports whether a path, or the part of it that is certain, is one that no commit has.
func stays(ctx context.Context, dir, path string) bool {
	if strings.HasPrefix(path, "~") || filepath.IsAbs(path) {
		return true
	}
	if i := strings.IndexAny(path, "*?[{$"); i >= 0 {
		path = path[:strings.LastIndexByte(path[:i], '/')+1]
	}
	if path == "" {
		return false
	}
	_, err := places{}.git(ctx, dir, "check-ignore", "--quiet", "--no-index", "--", path)
	return err == nil
}
