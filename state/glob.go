package state

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a pattern and of the walk to its matches.
const (
	maxMatches  = 10_000
	maxEntries  = 100_000
	maxPattern  = 4 << 10 // bytes
	maxPatterns = 100     // that the braces of one can stand for
)

// Glob returns the paths of files and directories that match a pattern with *, ?, [ ], { } and **, sorted; only directories if it ends
// with a slash. A backslash makes the next character match itself. Links to directories are followed before the first wildcard only;
// what lies behind links that leave the root, or lead nowhere, is left out, and so is a directory that cannot be read. More than 10,000
// matches, or a walk over 100,000 entries, is an error. One that is [fs.ErrInvalid] says that the pattern can match nothing here.
func (r *Root) Glob(ctx context.Context, pattern string) ([]string, error) {
	w := &walk{ctx: ctx, root: r, dirs: strings.HasSuffix(pattern, "/")}
	clean, err := localPattern(pattern)
	if err == nil {
		err = doublestar.GlobWalk(w, clean, w.found, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	}
	if err != nil {
		return nil, fail("glob", pattern, err)
	}
	slices.Sort(w.matches)
	return slices.Compact(w.matches), nil
}

// localPattern returns a valid pattern, cleaned.
func localPattern(pattern string) (string, error) {
	if err := inside(pattern); err != nil {
		return "", err
	}
	bare := strings.NewReplacer(`\{`, "", "[,]", "").Replace(pattern)
	braces, commas := float64(strings.Count(bare, "{")), float64(strings.Count(bare, ","))
	switch {
	case len(pattern) > maxPattern:
		return "", fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	case !doublestar.ValidatePattern(pattern):
		return "", refused(`the pattern has a bracket or brace that is not closed, or ends with \`)
	case math.Pow(1+commas/max(braces, 1), braces) > maxPatterns:
		return "", fmt.Errorf("the pattern stands for more than %d: write fewer alternatives in braces", maxPatterns)
	}
	// Each ** is tried at each directory, so two of them in a row are one.
	parts := strings.Split(path.Clean(pattern), "/")
	return strings.Join(slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" }), "/"), nil
}

// walk is the file system in which doublestar looks for matches. It counts what it shows.
type walk struct {
	ctx     context.Context
	root    *Root
	dirs    bool // only directories match
	entries int
	matches []string
}

func (w *walk) found(name string, e fs.DirEntry) error {
	dir := e.IsDir()
	if name == "." { // ** matches it too
		return nil
	}
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := w.root.stat(name)
		if err != nil {
			return nil
		}
		dir = info.IsDir()
	}
	if w.dirs && !dir {
		return nil
	}
	if w.matches = append(w.matches, name); len(w.matches) > maxMatches {
		return fmt.Errorf("matches more than %d files: write a narrower pattern", maxMatches)
	}
	return nil
}

// count adds entries to those that were looked at.
func (w *walk) count(entries int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.entries += entries; w.entries > maxEntries {
		return fmt.Errorf("looks at more than %d files: begin the pattern with a directory", maxEntries)
	}
	return nil
}

// Open is for [fs.FS]. doublestar calls Stat and ReadDir.
func (w *walk) Open(string) (fs.File, error) { return nil, fs.ErrInvalid }

// Stat describes a part of the pattern without wildcards.
func (w *walk) Stat(name string) (fs.FileInfo, error) {
	if err := w.count(1); err != nil {
		return nil, err
	}
	info, err := w.root.stat(name)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return info, nil
}

// ReadDir lists a directory, sorted, some entries at a time so that a huge one ends the walk before it fills the memory.
func (w *walk) ReadDir(dir string) (all []fs.DirEntry, err error) {
	if err := w.count(1); err != nil {
		return nil, err
	}
	var d *os.File
	if w.root.within(dir, func(at string) error {
		d, err = w.root.root.OpenFile(at, os.O_RDONLY|withoutWaiting, 0)
		return err
	}) != nil {
		return nil, nil
	}
	defer d.Close()
	for err == nil {
		var some []fs.DirEntry
		some, err = d.ReadDir(256)
		if err := w.count(len(some)); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}
