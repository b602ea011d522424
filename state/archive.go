package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"
)

// ArchiveDir is the directory of archived files, each in ArchiveDir/TIME/PATH.
const ArchiveDir = ".ralph/local/archive"

// archive has one directory for the files that are archived together.
type archive struct {
	root *os.Root
	now  time.Time
	dir  string // "" before the first
}

// reserve creates the directory of a file and returns the file's name there.
func (a *archive) reserve(rel string) (string, error) {
	if a.dir == "" {
		if err := a.create(); err != nil {
			return "", err
		}
	}
	name := path.Join(a.dir, rel)
	return name, a.root.MkdirAll(path.Dir(name), 0o777)
}

func (a *archive) create() error {
	private := path.Dir(ArchiveDir)
	if err := a.root.MkdirAll(path.Dir(private), 0o777); err != nil {
		return err
	}
	if a.root.Mkdir(private, 0o777) == nil { // git ignores it from its first file on
		if err := a.root.WriteFile(path.Join(private, ".gitignore"), []byte("*\n"), 0o666); err != nil {
			return err
		}
	}
	if err := a.root.MkdirAll(ArchiveDir, 0o777); err != nil {
		return err
	}
	stamp := path.Join(ArchiveDir, a.now.UTC().Format("20060102T150405Z"))
	dir, err := stamp, a.root.Mkdir(stamp, 0o777)
	for n := 2; n <= 1000 && errors.Is(err, fs.ErrExist); n++ {
		dir = fmt.Sprintf("%s-%d", stamp, n)
		err = a.root.Mkdir(dir, 0o777)
	}
	a.dir = dir
	return err
}

// Prune removes regular files that match a pattern, see [Root.Glob], and were last changed before a time; it returns their paths, also with
// an error. It removes no link, nothing behind a link out of the root, and nothing where [Root.Apply] writes nothing. A file that cannot
// be removed is an error, after the others were tried.
func (r *Root) Prune(ctx context.Context, pattern string, before time.Time) ([]string, error) {
	matches, err := r.Glob(ctx, pattern)
	if err != nil {
		return nil, err
	}
	var removed []string
	var failed []error
	for _, name := range matches {
		info, err := r.root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		place, err := r.real(name)
		if err != nil || isProtected(name) || isProtected(place) {
			continue
		}
		switch err := r.root.Remove(name); {
		case err == nil:
			removed = append(removed, name)
		case !errors.Is(err, fs.ErrNotExist):
			failed = append(failed, fail("prune", name, err))
		}
	}
	return removed, errors.Join(failed...)
}
