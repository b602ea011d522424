package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ReadAll reads the files that a pattern matches, each as f says, and returns the results of use for the documents,
// sorted by path; f.Path is the pattern. It reads at most limit files, 0 for no limit, and
// returns how many it skipped as more. f.Timeout bounds the total time: when it or ctx ends, ReadAll returns an error
// and no results, also if it would visit more than 100,000 files and directories, or if the files do not fit into the
// [Budget]. On a disk of this machine it finishes the current file first. On another disk it may still call use after
// the time was over.
//
// In the pattern, * and ? match within a name, ** matches directories, {a,b} and [abc] choose, and \ escapes the next
// character. A pattern with "~/" in front applies to the home directory. ReadAll skips directories and files that
// vanish; every other match has a document with its problem, if any. It does not follow links to directories, but reads
// a link to a file below the root.
//
// A pattern that is invalid, or leaves the root, is a [*PathError].
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
	got, ok := await(ctx, base.local, func() (got found) {
		got.all, got.more, got.err = readMatches(ctx, base, pattern, f, limit, func(d Doc) T {
			d.Path = prefix + d.Path
			return use(d)
		})
		return got
	})
	if !ok || ctx.Err() != nil {
		return nil, 0, errors.New(tooLate(ctx))
	}
	return got.all, got.more, got.err
}

// globBase returns the directory for a pattern: r, or the home directory, which must then be closed and whose files
// have a prefix before their names.
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

// AnyFile reports whether a pattern, as in [ReadAll], matches anything but directories. A pattern that is invalid, or
// leaves the root, matches nothing; if a limit of ReadAll is reached, the matches so far count.
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
	any, _ := await(ctx, base.local, func() (found bool) {
		_ = base.find(ctx, pattern, r.budget.known(), func(match) error { // unreadable directories have no files
			found = true
			return fs.SkipAll
		})
		return found
	})
	return any
}

// Match reports whether a pattern, as in [ReadAll], matches this path.
func Match(pattern, path string) bool {
	if notAPattern(pattern) != "" {
		return false
	}
	ok, err := doublestar.Match(cleanPattern(pattern), path)
	return ok && err == nil
}

func readMatches[T any](ctx context.Context, r *Root, pattern string, f File, limit int, use func(Doc) T) ([]T, int, error) {
	found, err := r.matches(ctx, pattern, r.budget.known())
	if err != nil {
		return nil, 0, err
	}
	more := 0
	if limit > 0 && len(found) > limit {
		more = len(found) - limit
		found = found[:limit]
	}
	var all []T
	settling := newSettling(f) // for all together
	var dir directory
	defer func() { dir.close() }()
	for _, m := range found {
		if ctx.Err() != nil {
			break
		}
		if parent := path.Dir(m.name); parent != dir.name { // neighbors share it
			dir.close()
			dir = r.openDirectory(parent)
		}
		got, doc := r.readMatch(dir, m, f.Format)
		for !got.spent && settling.again(ctx, doc) {
			r.budget.giveBack(int64(len(got.data)))
			got, doc = r.readMatch(dir, m, f.Format)
		}
		if got.spent {
			return nil, 0, errors.New(doc.Problem)
		}
		if doc.Path != "" {
			all = append(all, use(doc))
		}
	}
	return all, more, nil
}

// matches returns the matches of a pattern, without directories, sorted.
func (r *Root) matches(ctx context.Context, pattern string, known *listings) ([]match, error) {
	var found []match
	err := r.find(ctx, pattern, known, func(m match) error {
		found = append(found, m)
		return nil
	})
	slices.SortFunc(found, func(a, b match) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(found, func(a, b match) bool { return a.name == b.name }), err
}

// A directory is an open one, whose files are read without following its path again for each.
type directory struct {
	name string // in the pattern's matches
	real string // without links, relative to the project
	root *os.Root
}

// openDirectory opens a directory of the project. Its root is nil if that fails.
func (r *Root) openDirectory(name string) directory {
	d := directory{name: name}
	if real, err := follow(r.dir, name); err == nil {
		if root, err := r.root.OpenRoot(real); err == nil {
			d.real, d.root = real, root
		}
	}
	return d
}

func (d directory) close() {
	if d.root != nil {
		d.root.Close()
	}
}

// readMatch reads a match in its directory. The document's Path is "" if it no longer exists or is a directory.
func (r *Root) readMatch(dir directory, m match, format Format) (raw, Doc) {
	got, ok := dir.fetch(m, r.budget)
	if !ok {
		got = r.fetch(location{shown: m.name, rel: m.name}, r.budget)
	}
	doc := got.decode(File{Format: format}, m.name, r.budget)
	if doc.Status == Missing && doc.Version == "" && (doc.Quiet || doc.Problem == notAFile(fs.ModeDir)) {
		doc.Path = ""
	}
	return got, doc
}

// fetch reads a file that was regular when its directory was listed. ok is false for any other, which may be a link, and
// for one that cannot be opened here.
func (d directory) fetch(m match, b *Budget) (got raw, ok bool) {
	if d.root == nil || !m.mode.IsRegular() {
		return raw{}, false
	}
	base := path.Base(m.name)
	f, err := d.root.OpenFile(base, os.O_RDONLY|openNonblocking, 0)
	if err != nil {
		return raw{}, false
	}
	defer f.Close()
	at := path.Join(d.real, base)
	return readRegular(f, place{rel: at, id: at}, b), true
}
