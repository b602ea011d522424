package state

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"time"

	"github.com/gofrs/flock"
)

// ErrChanged is the error of Apply when a file is no longer as it was read.
var ErrChanged = errors.New("the file has changed since it was read")

var (
	errProtected = errors.New("is part of what configures git, ralph, an editor or an agent, and is never changed")
	errTwice     = errors.New("is changed twice: make one change of both")
	errReadOnly  = errors.New("is read-only")
)

// Change is a change of one file.
type Change struct {
	Old  *File // as it was read; nil: there was no file, and there must be none
	Path string
	New  []byte // nil: archive it
}

// Apply makes changes: it compares all files with what was read before it writes the first, each atomically. Archived files go below
// [ArchiveDir]. Nothing is written in .git, .ralph, .vscode, or a file that configures a host.
//
// A file keeps its mode; of a link within the root the target is changed. Directories of new files are created. One process at a time
// applies changes to a root. An error that is [ErrChanged] means that nothing was written. If writing fails, as on a full disk, each file
// is whole: as it was, or changed; the error names the first that is as it was.
func (r *Root) Apply(changes []Change, now time.Time) error {
	defer r.lock()()
	a := application{root: r, archive: archive{root: r.root, now: now}, places: map[string]bool{}}
	for _, c := range changes {
		a.targets = append(a.targets, &target{Change: c})
	}
	defer a.cleanUp()
	for _, step := range []func(*target) error{a.locate, a.prepare, a.compare, a.reserve, a.commit} {
		for _, t := range a.targets {
			if err := step(t); err != nil {
				return fail("change", t.Path, err)
			}
		}
	}
	return nil
}

// lock waits until no other process applies changes here, for some seconds at most, and returns what ends that. Where the directory cannot
// be locked, as on Windows, only the comparison guards a file.
func (r *Root) lock() (unlock func()) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	l := flock.New(r.dir, flock.SetFlag(os.O_RDONLY))
	_, _ = l.TryLockContext(ctx, 5*time.Millisecond)
	return func() { _ = l.Close() }
}

// application is the changes that are made together. Each step is made for all files before the next one.
type application struct {
	root    *Root
	archive archive
	places  map[string]bool
	temps   int
	targets []*target
}

// target is a change on its way.
type target struct {
	Change
	rel   string // the path
	place string // without links
	temp  string // the new file, until it is renamed
	to    string // the file in the archive
}

// locate checks a change and finds its place.
func (a *application) locate(t *target) (err error) {
	if t.rel, err = local(t.Path); err != nil {
		return err
	}
	if t.place, err = a.root.real(t.rel); err != nil {
		return err
	}
	switch {
	case isProtected(t.rel), isProtected(t.place):
		return errProtected
	case a.places[t.place]:
		return errTwice
	case len(t.New) > MaxFile:
		return errTooLarge
	case t.New == nil && t.Old == nil:
		return fs.ErrNotExist
	case t.New != nil && t.Old != nil && t.Old.Mode&0o200 == 0:
		return errReadOnly // a rename would not ask
	}
	a.places[t.place] = true
	return nil
}

// prepare does beside the file what may fail for want of space or permission.
func (a *application) prepare(t *target) (err error) {
	dir := path.Dir(t.place)
	switch {
	case t.New == nil:
		return nil
	case t.Old == nil:
		if err := a.root.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	case bytes.Equal(t.Old.Bytes, t.New):
		return nil
	}
	// The lock keeps these names apart. A process that was killed may have left one.
	a.temps++
	temp := path.Join(dir, ".ralph-"+strconv.Itoa(a.temps)+".tmp")
	_ = a.root.root.Remove(temp)
	f, err := a.root.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	t.temp = temp
	if t.Old != nil {
		err = f.Chmod(t.Old.Mode.Perm())
	}
	if err == nil {
		_, err = f.Write(t.New)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// compare reports a file that is not as it was read.
func (a *application) compare(t *target) error {
	if t.Old == nil {
		_, err := a.root.root.Lstat(t.place)
		switch {
		case err == nil:
			return ErrChanged
		case errors.Is(err, fs.ErrNotExist):
			return nil
		}
		return err
	}
	f, err := a.root.Read(t.place)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(f.Bytes, t.Old.Bytes) {
		return ErrChanged
	}
	return err
}

// reserve makes the directory of a file in the archive.
func (a *application) reserve(t *target) (err error) {
	if t.New == nil {
		t.to, err = a.archive.reserve(t.rel)
	}
	return err
}

// commit makes the change in one step.
func (a *application) commit(t *target) error {
	root := a.root.root
	switch {
	case t.New == nil:
		if err := root.Rename(t.place, t.to); err != nil || t.rel == t.place {
			return err
		}
		if info, err := root.Lstat(t.rel); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return root.Remove(t.rel) // it leads nowhere now
		}
		return nil
	case t.temp == "":
		return nil // the file has these bytes
	case t.Old == nil:
		// Unlike a rename, a link does not replace a file that was just created. Not every file system has links. The error is not
		// ErrChanged: other files may be written already.
		if err := root.Link(t.temp, t.place); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return root.Rename(t.temp, t.place)
}

// cleanUp removes what was prepared and is not needed.
func (a *application) cleanUp() {
	for _, t := range a.targets {
		if t.temp != "" {
			_ = a.root.root.Remove(t.temp)
		}
	}
}
