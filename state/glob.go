package state

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ReadAll reads the files that a pattern matches, each as f says, and makes
// something of each document; f.Path is the pattern and f.Settle is not used.
// What was made is sorted by path. Of more than limit matches the first are
// read, and more says how many there are beside them; limit 0 means no limit.
// f.Timeout bounds the reading of all, not of each: when it, or ctx, ends, the
// error says so and nothing is returned; also when the walk would look at more than
// 100,000 files and directories, and when the files do not fit into the [Budget]. A disk of
// this machine is not watched, so the file at hand is finished first. On another disk use
// may still be called when the time was over.
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
	got, ok := await(ctx, base.local, func() (got found) {
		got.all, got.more, got.err = readMatches(ctx, base, pattern, f.Format, limit, func(d Doc) T {
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
	any, _ := await(ctx, base.local, func() (found bool) {
		_ = base.find(ctx, pattern, func(string) error { // what cannot be read has no files
			found = true
			return fs.SkipAll
		})
		return found
	})
	return any
}

// Match reports whether a pattern, as [ReadAll] takes it, matches this path.
func Match(pattern, path string) bool {
	if notAPattern(pattern) != "" {
		return false
	}
	ok, err := doublestar.Match(cleanPattern(pattern), path)
	return ok && err == nil
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
	var all []T
	dir, real := "", "" // neighbors are in one directory, whose links are resolved once
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		if parent := path.Dir(name); parent != dir {
			dir = parent
			if real, err = follow(r.dir, dir); err != nil {
				real = dir
			}
		}
		doc, fits := r.readMatch(name, path.Join(real, path.Base(name)), format)
		if !fits {
			return nil, 0, errors.New(doc.Problem)
		}
		if doc.Path != "" {
			all = append(all, use(doc))
		}
	}
	return all, more, nil
}

// matches lists what a pattern matches, without directories, sorted.
func (r *Root) matches(ctx context.Context, pattern string) ([]string, error) {
	var names []string
	err := r.find(ctx, pattern, func(name string) error {
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// readMatch returns the document of a match at a place; its Path is "" if there is none any more, or
// if it is a directory. It reports whether the file fits into the budget.
func (r *Root) readMatch(name, at string, format Format) (_ Doc, fits bool) {
	got := fetchAt(place{root: r.root, rel: at, id: at}, r.budget)
	if got.problem == notAFile(fs.ModeSymlink) {
		got = r.fetch(location{shown: name, rel: name}, r.budget)
	}
	doc := got.decode(File{Format: format}, name, r.budget)
	if got.spent {
		return doc, false
	}
	if doc.Status == Missing && doc.Version == "" && (doc.Quiet || doc.Problem == notAFile(fs.ModeDir)) {
		return Doc{}, true
	}
	return doc, true
}
