package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"time"
)

// ErrChanged is the error of Apply when a file is no longer as it was read. Nothing was written then, unless the error says so.
var ErrChanged = errors.New("the file has changed since it was read")

// errProtected is for places that no effect may write.
var errProtected = errors.New("is part of git, ralph, an editor or an agent's configuration, which is never changed here")

// Change is a change of one file.
type Change struct {
	Old  *File // as it was read; nil: there was no file, and there must be none
	Path string
	New  []byte // nil: archive it
}

// Apply makes changes: it compares all files with what was read before it writes the first, each atomically. Archived files go below
// .ralph/local/archive/TIME/. Nothing is written in .git, .ralph, .vscode, or a file that configures a host.
//
// A file keeps its mode; of a link within the root the target is changed. Directories of new files are created. If writing fails, as on a
// full disk, each file is as it was or as it should be, and the error names the first that is not and those that are. A file may be changed
// once only.
func (r *Root) Apply(changes []Change, now time.Time) (err error) {
	var targets []*target
	defer func() {
		for _, t := range targets {
			t.cleanUp()
		}
	}()
	for _, c := range changes {
		t, err := r.target(c)
		if err != nil {
			return fail(c.verb(), c.Path, err)
		}
		for _, other := range targets {
			if other.place == t.place {
				return fail(c.verb(), c.Path, errors.New("two changes of one file"))
			}
		}
		targets = append(targets, t)
	}
	archive := archive{root: r.root, now: now}
	for _, t := range targets {
		if err := t.prepare(&archive); err != nil {
			return fail(t.verb(), t.Path, err)
		}
	}
	for _, t := range targets {
		if err := t.compare(); err != nil {
			return fail(t.verb(), t.Path, err)
		}
	}
	for i, t := range targets {
		if err := t.commit(); err != nil {
			err = fail(t.verb(), t.Path, err)
			if i > 0 {
				err = fmt.Errorf("%w (already changed: %s)", err, names(targets[:i]))
			}
			return err
		}
	}
	return nil
}

func names(targets []*target) string {
	var b bytes.Buffer
	for i, t := range targets {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(t.Path)
	}
	return b.String()
}

func (c Change) verb() string {
	if c.New == nil {
		return "archive"
	}
	return "write"
}

// target is a change on its way.
type target struct {
	Change
	root  *Root
	rel   string // the path
	place string // without links
	temp  string // the new file, until it is renamed
	to    string // where the archive has it
}

// target checks a change and finds its place.
func (r *Root) target(c Change) (*target, error) {
	rel, err := local(c.Path)
	if err != nil {
		return nil, err
	}
	place, err := r.real(rel)
	switch {
	case err != nil:
		return nil, err
	case isProtected(rel), isProtected(place):
		return nil, errProtected
	case len(c.New) > MaxFile:
		return nil, errTooLarge
	case c.New == nil && c.Old == nil:
		return nil, fs.ErrNotExist
	case c.New != nil && c.Old != nil && c.Old.Mode.Perm()&0o200 == 0:
		return nil, fs.ErrPermission // a rename would not ask
	}
	return &target{Change: c, root: r, rel: rel, place: place}, nil
}

// prepare does what may fail for want of space or permission, beside the file.
func (t *target) prepare(a *archive) (err error) {
	switch root := t.root.root; {
	case t.New == nil:
		t.to, err = a.reserve(t.rel)
		return err
	case t.Old == nil:
		if err := root.MkdirAll(path.Dir(t.place), 0o777); err != nil {
			return err
		}
		t.temp, err = writeTemp(root, path.Dir(t.place), t.New, 0o666, false)
	case !bytes.Equal(t.Old.Bytes, t.New):
		t.temp, err = writeTemp(root, path.Dir(t.place), t.New, t.Old.Mode.Perm(), true)
	}
	return err
}

// compare reports a file that is not as it was read.
func (t *target) compare() error {
	if t.Old == nil {
		if _, err := t.root.root.Lstat(t.place); !errors.Is(err, fs.ErrNotExist) {
			return ErrChanged
		}
		return nil
	}
	f, err := t.root.Read(t.place)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !bytes.Equal(f.Bytes, t.Old.Bytes):
		return ErrChanged
	}
	return err
}

// commit makes the change in one step.
func (t *target) commit() error {
	root := t.root.root
	switch {
	case t.New == nil:
		if err := root.Rename(t.place, t.to); err != nil {
			return err
		}
		t.to = ""
		if t.rel != t.place { // a link that now leads nowhere
			if info, err := root.Lstat(t.rel); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return root.Remove(t.rel)
			}
		}
		return nil
	case t.temp == "":
		return nil // it has these bytes already
	case t.Old == nil:
		// Unlike a rename, a link does not replace a file that was just created.
		switch err := root.Link(t.temp, t.place); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return ErrChanged
		}
	}
	err := root.Rename(t.temp, t.place)
	if err == nil {
		t.temp = ""
	}
	return err
}

// cleanUp removes what was prepared and is not needed.
func (t *target) cleanUp() {
	if t.temp != "" {
		t.root.root.Remove(t.temp)
	}
	if t.to != "" {
		removeEmpty(t.root.root, path.Dir(t.to))
	}
}

// writeTemp writes a new file to the disk, with exactly this mode or within the user's mask.
func writeTemp(root *os.Root, dir string, data []byte, mode fs.FileMode, exactly bool) (name string, err error) {
	name = path.Join(dir, ".ralph-"+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && exactly {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		root.Remove(name)
		return "", err
	}
	return name, nil
}
