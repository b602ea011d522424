package state

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits on patterns and on walks to their matches.
const (
	maxPattern      = 4 << 10 // bytes
	maxAlternatives = 100     // patterns that one with braces can expand to
	maxEntries      = 100_000 // files and directories that a walk visits
)

// A match is a path that a pattern matches, and its type in the listing of its directory.
type match struct {
	name string
	mode fs.FileMode
}

// find calls yield for the matches of a pattern, without directories, in no order, possibly more than once. An error of
// yield ends the walk; fs.SkipAll is not returned. A limit ends it after the matches found so far. Directories in known
// are not listed again.
func (r *Root) find(ctx context.Context, pattern string, known *listings, yield func(match) error) error {
	w := walk{ctx: ctx, root: r.root, dir: r.dir, known: known, entries: maxEntries, yield: yield}
	return w.find(pattern)
}

// cleanPattern returns a pattern cleaned like a path, with repeated ** merged: each of them would be tried.
func cleanPattern(pattern string) string {
	segments := strings.Split(path.Clean(pattern), "/")
	return strings.Join(slices.CompactFunc(segments, func(a, b string) bool { return a == "**" && b == "**" }), "/")
}

// A walk is the file system in which doublestar looks for matches. It reads each directory once, whatever the pattern,
// and treats unreadable ones as empty.
type walk struct {
	ctx     context.Context
	root    *os.Root
	dir     string // of root
	known   *listings
	entries int // remaining visits
	yield   func(match) error
	read    map[string][]fs.DirEntry
}

func (w *walk) find(pattern string) error {
	w.read = map[string][]fs.DirEntry{}
	// Links are followed only in names before the first wildcard.
	err := doublestar.GlobWalk(w, cleanPattern(pattern), w.give, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err == fs.SkipAll {
		return nil
	}
	return err
}

// give yields a match, unless it is a directory or a link to one.
func (w *walk) give(name string, e fs.DirEntry) error {
	if e.IsDir() {
		return nil
	}
	if e.Type()&fs.ModeSymlink != 0 {
		if to, err := w.root.Stat(name); err == nil && to.IsDir() {
			return nil
		}
	}
	return w.yield(match{name, e.Type()})
}

// look counts entries.
func (w *walk) look(entries int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.entries -= entries; w.entries < 0 {
		return fmt.Errorf("looks at more than %d files and directories: begin the pattern with a directory", maxEntries)
	}
	return nil
}

// Open completes fs.FS. doublestar calls [walk.Stat] and [walk.ReadDir].
func (w *walk) Open(string) (fs.File, error) { return nil, fs.ErrInvalid }

// Stat describes a name of the pattern. A link that leads out of the root, or nowhere, exists: reading it reports the
// problem.
func (w *walk) Stat(name string) (fs.FileInfo, error) {
	info, err := w.root.Stat(name)
	if err != nil || !info.IsDir() {
		info, err = w.root.Lstat(name)
	}
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return info, nil
}

const entriesAtOnce = 64

// ReadDir returns the entries of a directory.
func (w *walk) ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := w.look(0); err != nil {
		return nil, err
	}
	if all, ok := w.read[dir]; ok {
		return all, nil
	}
	all, ok := w.known.get(w.dir, dir)
	if ok {
		if err := w.look(len(all)); err != nil {
			return nil, err
		}
	} else if d, err := w.root.OpenFile(dir, os.O_RDONLY|openNonblocking, 0); err == nil { // it may be a pipe
		defer d.Close()
		for end := error(nil); end == nil; { // an error ends it too
			var some []fs.DirEntry
			some, end = d.ReadDir(entriesAtOnce)
			if err := w.look(len(some)); err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		w.known.put(w.dir, dir, all)
	}
	w.read[dir] = all
	return all, nil
}

// listings are the directories that were listed for one decision. It is safe for concurrent use; a nil one keeps none.
type listings struct {
	mu   sync.Mutex
	all  map[[2]string][]fs.DirEntry // by root and directory
	kept int                         // entries in all
}

func (l *listings) get(root, dir string) (entries []fs.DirEntry, ok bool) {
	if l == nil {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	entries, ok = l.all[[2]string{root, dir}]
	return entries, ok
}

// put keeps a listing, if it is not one too many.
func (l *listings) put(root, dir string, entries []fs.DirEntry) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept += len(entries); l.kept > maxEntries {
		l.kept -= len(entries)
		return
	}
	if l.all == nil {
		l.all = map[[2]string][]fs.DirEntry{}
	}
	l.all[[2]string{root, dir}] = entries
}
