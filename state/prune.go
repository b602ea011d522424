package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Prune removes the regular files below the root that match a pattern and were last changed more than older before now.
// It returns their paths, also with an error.
//
// In the pattern, * and ? match within a name, ** matches directories, {a,b} and [abc] choose, and \ escapes the next
// character. Prune neither removes nor follows links. A file that vanishes is not an error; one that cannot be removed
// is, after the others were tried. It is also an error to visit more than 100,000 files and directories, after removing
// what was found. A pattern that is invalid, or leaves the root, is a [*PathError].
func (r *Root) Prune(ctx context.Context, glob string, older time.Duration, now time.Time) (removed []string, err error) {
	if err := checkGlob(glob); err != nil {
		return nil, err
	}
	if r.budget != nil {
		var done func()
		ctx, done = r.budget.within(ctx, math.MaxInt64) // only the total time counts
		defer done()
	}
	found, walkErr := r.matches(ctx, glob, nil) // files may have changed since the decision
	if ctx.Err() != nil {
		walkErr = context.Cause(ctx)
	}
	var failed error
	for _, m := range found {
		name := m.name
		if ctx.Err() != nil {
			return removed, errors.Join(context.Cause(ctx), failed)
		}
		if dir, err := follow(r.dir, path.Dir(name)); err != nil || dir != path.Dir(name) {
			continue // reached through a link
		}
		info, err := r.root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) <= older {
			continue
		}
		switch err := r.root.Remove(name); {
		case err == nil:
			removed = append(removed, name)
		case !errors.Is(err, fs.ErrNotExist):
			failed = errors.Join(failed, &writeError{path: name, op: "prune", err: err})
		}
	}
	return removed, errors.Join(walkErr, failed)
}

func checkGlob(glob string) error {
	refuse := func(message string) error { return &PathError{Path: glob, Message: message} }
	switch {
	case glob == "":
		return refuse("is empty")
	case strings.IndexByte(glob, 0) >= 0:
		return refuse("contains a NUL byte")
	case climbs(glob):
		return refuse(`contains "..": name files relative to the project`)
	case strings.HasPrefix(glob, "/"), filepath.IsAbs(glob):
		return refuse("is absolute: name files relative to the project")
	case strings.HasPrefix(glob, "~/"):
		return refuse("is in the home directory, where ralph changes nothing")
	}
	if message := notAPattern(glob); message != "" {
		return refuse(message)
	}
	return nil
}

// notAPattern returns what is wrong with a pattern, or "".
func notAPattern(glob string) string {
	switch {
	case len(glob) > maxPattern:
		return fmt.Sprintf("is longer than %d bytes", maxPattern)
	case !doublestar.ValidatePattern(glob):
		return "is not a pattern: a bracket or brace is not closed, or it ends with \\"
	case choices(glob) > maxAlternatives:
		return fmt.Sprintf("expands to more than %d patterns: write fewer alternatives in braces", maxAlternatives)
	}
	return ""
}

// choices returns an upper bound for the patterns that these braces and commas can expand to.
func choices(glob string) float64 {
	braces, commas := float64(strings.Count(glob, "{")), float64(strings.Count(glob, ","))
	return math.Pow(1+commas/max(braces, 1), braces)
}
