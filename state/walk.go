package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits of patterns and of the walks to their matches.
const (
	maxPattern      = 4 << 10    // bytes
	maxAlternatives = 100        // patterns that one with braces stands for
	maxEntries      = 100_000    // files and folders that a walk looks at
	maxMatching     = 20_000_000 // steps that comparing their names with the pattern takes, and opening folders far below
)

// match is a name that a pattern matches.
type match struct {
	name    string
	regular bool // as the directory says; a link, for one, is not
}

// walk looks for the matches of a pattern. It reads each folder once, whatever the pattern: what is to be found beneath
// it is a set of patterns.
type walk struct {
	ctx      context.Context
	root     *os.Root
	entries  int // that it may still look at
	matching int // steps that it may still take
	yield    func(match) error
}

// find calls yield for what a pattern matches, without directories, in no order, some of it twice. An error of yield
// ends the walk; fs.SkipAll is none. So do the limits: what was found until then was yielded.
func (r *Root) find(ctx context.Context, pattern string, yield func(match) error) error {
	w := walk{ctx: ctx, root: r.root, entries: maxEntries, matching: maxMatching, yield: yield}
	return w.find(pattern)
}

func (w *walk) find(pattern string) error {
	beneath := make(map[string][]string) // patterns by the folder that they begin in
	var bases []string
	for _, p := range alternatives(pattern) {
		base, rest := splitLiteral(p)
		if rest == "" {
			if err := w.literal(base); err != nil {
				return notSkipped(err)
			}
			continue
		}
		if beneath[base] == nil {
			bases = append(bases, base)
		}
		beneath[base] = append(beneath[base], rest)
	}
	for _, base := range bases {
		if err := w.folder(base, beneath[base]); err != nil {
			return notSkipped(err)
		}
	}
	return nil
}

func notSkipped(err error) error {
	if err == fs.SkipAll {
		return nil
	}
	return err
}

// literal yields a name that stands in the pattern, if there is such a file.
func (w *walk) literal(name string) error {
	if err := w.look(); err != nil {
		return err
	}
	if !fs.ValidPath(name) {
		return nil
	}
	info, err := w.root.Lstat(name)
	if err != nil {
		return nil
	}
	return w.give(name, info.Mode())
}

// give yields a match, unless it is a folder or a link to one.
func (w *walk) give(name string, mode fs.FileMode) error {
	if mode.IsDir() {
		return nil
	}
	if mode&fs.ModeSymlink != 0 {
		if to, err := w.root.Stat(name); err == nil && to.IsDir() {
			return nil
		}
	}
	return w.yield(match{name, mode.IsRegular()})
}

// look counts one entry.
func (w *walk) look() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.entries--; w.entries < 0 {
		return fmt.Errorf("looks at more than %d files and folders: begin the pattern with a folder", maxEntries)
	}
	if w.matching < 0 {
		return errors.New("takes too long to match: write a shorter pattern, or begin it with a folder")
	}
	return nil
}

// folder looks for patterns in a folder and beneath it.
func (w *walk) folder(dir string, patterns []string) error {
	// "**" is also no folder at all. Beneath any, it is still there.
	for i := 0; i < len(patterns); i++ {
		if rest, ok := strings.CutPrefix(patterns[i], "**/"); ok {
			patterns = w.include(patterns, rest)
		}
	}
	folders, err := w.read(dir, patterns)
	for _, f := range folders {
		if err == nil {
			err = w.folder(f.name, f.patterns)
		}
	}
	return err
}

// below is a folder and what is to be found in it.
type below struct {
	name     string
	patterns []string
}

// read yields what matches in a folder, and gives the folders in which there may be more. A folder that cannot be read is
// empty.
func (w *walk) read(dir string, patterns []string) (folders []below, err error) {
	if !fs.ValidPath(dir) {
		return nil, nil
	}
	w.matching -= 40 * strings.Count(dir, "/")                     // each is opened on the way
	d, err := w.root.OpenFile(dir, os.O_RDONLY|openNonblocking, 0) // it may be a pipe
	if err != nil {
		return nil, nil
	}
	defer d.Close()
	for {
		entries, end := d.ReadDir(entriesAtOnce)
		for _, e := range entries {
			if err := w.look(); err != nil {
				return nil, err
			}
			found, deeper := w.match(patterns, e.Name(), e.IsDir())
			name := path.Join(dir, e.Name())
			if found {
				if err := w.give(name, e.Type()); err != nil {
					return nil, err
				}
			}
			if len(deeper) > 0 {
				folders = append(folders, below{name, deeper})
			}
		}
		if end != nil { // also for an error
			return folders, nil
		}
	}
}

const entriesAtOnce = 64

// match reports whether one of the patterns matches a name, and what is to be looked for beneath it if it is a folder.
func (w *walk) match(patterns []string, name string, isDir bool) (found bool, deeper []string) {
	for _, p := range patterns {
		segment, rest, more := cutSegment(p)
		if segment == "**" {
			if found = found || !more; isDir {
				deeper = w.include(deeper, p)
			}
			continue
		}
		if more && !isDir {
			continue
		}
		w.matching -= 1 + len(segment)*len(name)/16
		if ok, err := doublestar.Match(segment, name); ok && err == nil {
			if more {
				deeper = w.include(deeper, rest)
			} else {
				found = true
			}
		}
	}
	return found, deeper
}

func (w *walk) include(patterns []string, p string) []string {
	w.matching -= 1 + len(patterns)/8
	if slices.Contains(patterns, p) {
		return patterns
	}
	return append(patterns, p)
}

// splitLiteral splits a pattern without braces at its first segment that is none of the literal names. Links among them
// are followed.
func splitLiteral(pattern string) (base, rest string) {
	base, rest = ".", pattern
	for {
		segment, after, more := cutSegment(rest)
		if strings.ContainsAny(segment, `*?[\`) {
			return base, rest
		}
		if base == "." {
			base = segment
		} else {
			base += "/" + segment
		}
		if rest = after; !more {
			return base, ""
		}
	}
}

// collapse leaves one "**" of several in a row in a pattern without braces, and drops segments that lead nowhere: "." and
// empty ones, but not the first, which makes a pattern absolute, and not the last, which asks for a folder.
func collapse(pattern string) string {
	absolute := strings.HasPrefix(pattern, "/")
	for from := 0; ; {
		segment, rest, more := cutSegment(pattern[from:])
		if !more {
			return pattern
		}
		next, _, _ := cutSegment(rest)
		if segment == "**" && next == "**" || segment == "." || segment == "" && !(absolute && from == 0) {
			pattern = pattern[:from] + rest
		} else {
			from += len(segment) + 1
		}
	}
}

// cutSegment cuts a pattern without braces after its first segment.
func cutSegment(pattern string) (segment, rest string, more bool) {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i += classEnd(pattern[i:])
		case '/':
			return pattern[:i], pattern[i+1:], true
		}
	}
	return pattern, "", false
}

// classEnd is the offset of the bracket that closes the class that s begins with.
func classEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return len(s) - 1
}

// alternatives are the patterns without braces that a valid pattern stands for; those beyond maxAlternatives+1 are left out.
func alternatives(pattern string) []string {
	open := -1
	depth := 0
	var cuts []int // the commas of the first braces
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i += classEnd(pattern[i:])
		case '{':
			if depth++; open < 0 {
				open = i
			}
		case ',':
			if depth == 1 {
				cuts = append(cuts, i)
			}
		case '}':
			if depth--; depth > 0 || open < 0 {
				continue
			}
			var all []string
			from := open + 1
			for _, to := range append(cuts, i) {
				all = append(all, alternatives(pattern[:open]+pattern[from:to]+pattern[i+1:])...)
				if from = to + 1; len(all) > maxAlternatives {
					return all[:maxAlternatives+1]
				}
			}
			return all
		}
	}
	return []string{collapse(pattern)}
}
