package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bmatcuk/doublestar/v4"
)

// ReadAll reads the files that a pattern matches, each as f says, and makes
// something of each document; f.Path is the pattern and f.Settle is not used.
// What was made is sorted by path. Of more than limit matches the first are
// read, and more says how many there are beside them; limit 0 means no limit.
// f.Timeout bounds the reading of all, not of each: when it, or ctx, ends, the
// error says so and nothing is given; likewise when the walk would look at more than
// 100,000 files and folders, when matching their names takes too long, and when the files
// do not fit into the [Budget]. A disk of this machine is not watched, so
// the file at hand is finished first. use is called from several goroutines, and
// may still be when the time was over.
//
// In the pattern, * and ? stay within a name, ** goes through directories,
// {a,b} and [abc] choose, and \ makes the next character literal. With "~/" in
// front it is matched beneath the home directory. Directories are no matches,
// and neither are files that vanish meanwhile; every other match has a document
// that says what is wrong with it. Links are not followed on the way, but a
// match that is a link to a file beneath the root is read.
//
// A pattern that is not one, or leaves the root, is a [*PathError].
func ReadAll[T any](ctx context.Context, r *Root, f File, limit int, use func(Doc) T) (all []T, more int, err error) {
	base, prefix, pattern, err := r.globBase(f.Path)
	if err != nil {
		return nil, 0, err
	}
	if base != r {
		defer base.Close()
	}
	ctx, done := r.budget.within(ctx, f.Timeout)
	defer done()

	type found struct {
		all  []T
		more int
		err  error
	}
	read := func() (got found) {
		defer func() {
			if p := recover(); p != nil {
				got = found{err: fmt.Errorf("cannot be read: %v", p)}
			}
		}()
		got.all, got.more, got.err = readMatches(ctx, base, pattern, f.Format, limit, func(d Doc) T {
			d.Path = prefix + d.Path
			return use(d)
		})
		if ctx.Err() != nil {
			got = found{err: errors.New(tooLate(ctx))}
		}
		return got
	}
	if base.local {
		got := read()
		return got.all, got.more, got.err
	}
	got, ok := await(ctx, read)
	if !ok {
		got = found{err: errors.New(tooLate(ctx))}
	}
	return got.all, got.more, got.err
}

// globBase finds out beneath what a pattern is matched: r, or the home directory,
// which must then be closed and whose files have a prefix before their names.
func (r *Root) globBase(pattern string) (base *Root, prefix, rest string, err error) {
	base, rest = r, pattern
	beneathHome, ok := strings.CutPrefix(pattern, "~/")
	if ok {
		rest, prefix = strings.TrimLeft(beneathHome, "/"), "~/"
	}
	if err := checkGlob(rest); err != nil {
		return nil, "", "", err
	}
	if ok {
		home, err := r.homeDir()
		if err != nil {
			return nil, "", "", &PathError{Path: pattern, Message: "there is no home directory: " + reason(err)}
		}
		if base, err = OpenRoot(home); err != nil {
			return nil, "", "", err
		}
		base.budget = r.budget
	}
	return base, prefix, rest, nil
}

// AnyFile reports whether a pattern, as [ReadAll] takes it, matches anything but
// directories. A pattern that is not one, or leaves the root, matches nothing; a
// walk that meets a limit of ReadAll matches what it found until then.
func (r *Root) AnyFile(pattern string) bool {
	base, _, pattern, err := r.globBase(pattern)
	if err != nil {
		return false
	}
	if base != r {
		defer base.Close()
	}
	ctx, done := r.budget.within(context.Background(), 0)
	defer done()
	look := func() (found bool) {
		_ = base.find(ctx, pattern, func(match) error { // what cannot be read has no files
			found = true
			return fs.SkipAll
		})
		return found
	}
	if base.local {
		return look()
	}
	found, _ := await(ctx, look)
	return found
}

// Match reports whether a pattern, as [ReadAll] takes it, matches this path.
func Match(pattern, path string) bool {
	if notAPattern(pattern) != "" {
		return false
	}
	return slices.ContainsFunc(alternatives(pattern), func(p string) bool {
		ok, err := doublestar.Match(p, path)
		return ok && err == nil
	})
}

func readMatches[T any](ctx context.Context, r *Root, pattern string, format Format, limit int, use func(Doc) T) ([]T, int, error) {
	names, err := r.matches(ctx, pattern)
	if err != nil {
		return nil, 0, err
	}
	more := 0
	if limit > 0 && len(names) > limit {
		more = len(names) - limit
		names = names[:limit]
	}
	workers := min(runtime.GOMAXPROCS(0), len(names)/filesPerWorker+1)
	parts := make([][]T, workers)
	panics := make([]any, workers)
	var spent atomic.Pointer[string] // what did not fit
	work := func(w int) {
		defer func() { panics[w] = recover() }()
		// Neighbours lie in one directory, which is then opened once.
		share := names[len(names)*w/workers : len(names)*(w+1)/workers]
		in := directory{root: r}
		defer in.close()
		part := make([]T, 0, len(share))
		for _, m := range share {
			if ctx.Err() != nil || spent.Load() != nil {
				return
			}
			doc, fits := in.read(m, format)
			if !fits {
				spent.Store(&doc.Problem)
			} else if doc.Path != "" {
				part = append(part, use(doc))
			}
		}
		parts[w] = part
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			return nil, 0, fmt.Errorf("cannot be read: %v", p)
		}
	}
	if why := spent.Load(); why != nil {
		return nil, 0, errors.New(*why)
	}
	return slices.Concat(parts...), more, nil
}

// filesPerWorker is how many files are worth a goroutine of their own.
const filesPerWorker = 32

// matches lists what a pattern matches, without directories, sorted.
func (r *Root) matches(ctx context.Context, pattern string) ([]match, error) {
	var names []match
	err := r.find(ctx, pattern, func(m match) error {
		names = append(names, m)
		return nil
	})
	slices.SortFunc(names, func(a, b match) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(names, func(a, b match) bool { return a.name == b.name }), err
}

// directory reads files that lie beside one another without walking to each of
// them from the root.
type directory struct {
	root *Root
	name string
	dir  *os.Root // nil if name cannot be opened, or was not yet
}

func (d *directory) close() {
	if d.dir != nil {
		d.dir.Close()
		d.dir = nil
	}
}

// read gives the document at name; its Path is "" if there is none any more, or
// if it is a directory. It reports whether the file fits into the budget.
func (d *directory) read(m match, format Format) (_ Doc, fits bool) {
	var got raw
	ok := false
	if m.regular {
		got, ok = d.fetch(m.name)
	}
	if !ok { // a link, or nothing that can simply be opened
		got = d.root.fetch(location{shown: m.name, rel: m.name}, d.root.budget)
	}
	doc, _ := got.decode(File{Format: format}, m.name, d.root.budget)
	doc.Path = m.name
	if got.spent {
		return doc, false
	}
	if doc.Status == Missing && doc.Version == "" && (doc.Quiet || doc.Problem == notAFile(fs.ModeDir)) {
		return Doc{}, true
	}
	return doc, true
}

// fetch reads a regular file of the directory that was opened.
func (d *directory) fetch(name string) (raw, bool) {
	parent := path.Dir(name)
	if d.dir == nil || parent != d.name {
		d.close()
		dir, err := d.root.root.OpenRoot(parent + asDir)
		if err != nil || d.root.throughLink(name) {
			if err == nil {
				dir.Close()
			}
			return raw{}, false
		}
		d.name, d.dir = parent, dir
	}
	f, err := d.dir.OpenFile(path.Base(name), os.O_RDONLY|openNonblocking, 0)
	if err != nil {
		return raw{}, false
	}
	defer f.Close()
	return readRegular(f, place{root: d.root.root, rel: name, id: name}, d.root.budget), true
}
