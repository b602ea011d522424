package state

import (
	"context"
	"errors"
	"io/fs"
	"path"
)

// Write puts a whole file in place, in one step: a reader meanwhile sees
// the old bytes or the new ones. version is the [Doc.Version] that the new bytes
// are based on; "" makes a file that must not be there yet, with the folders on the
// way to it. A file that is there keeps its permissions, and of a link the file that
// it leads to is replaced, as with [Root.Apply].
//
// The error is [ErrChanged] if the file is not as it was read, or is there although
// it must not be; an [*EditError] if what is there is no file; a [*PathError]; or
// wraps that of ctx or of the system.
func (r *Root) Write(ctx context.Context, name string, data []byte, version string) error {
	if len(data) > MaxFileSize {
		return grown(name)
	}
	return r.Apply(ctx, []Change{{Path: name, Version: version, Op: opWrite, data: data}})
}

// create writes the file of a target that was not there.
func (t *target) create() error {
	root := t.root.root
	if err := root.MkdirAll(path.Dir(t.loc.rel), 0o777); err != nil {
		return t.failed(err)
	}
	place, err := entry(t.root.dir, t.loc)
	if err != nil {
		return t.failed(err)
	}
	if _, err := root.Lstat(place); err == nil {
		// It appeared just now, or it is a link that leads nowhere.
		return changed(t.loc.shown)
	}
	temp, err := writeTemp(root, path.Dir(place), t.edited, nil)
	if err != nil {
		return t.failed(err)
	}
	defer root.Remove(temp)
	// A link, unlike a rename, never replaces what was made meanwhile.
	err = root.Link(temp, place)
	switch {
	case errors.Is(err, fs.ErrExist):
		return changed(t.loc.shown)
	case err != nil: // not every file system has links
		if err := root.Rename(temp, place); err != nil {
			return t.failed(err)
		}
	}
	syncDir(root, path.Dir(place))
	return nil
}

// ReadBytes gives a file as it is, to be changed with [Root.Write], and
// the version to hand back. A file that is not there is nil with version "". What is
// there and cannot be read is an [*EditError]; a path that cannot be used a
// [*PathError].
func (r *Root) ReadBytes(ctx context.Context, name string) (data []byte, version string, err error) {
	loc, err := r.locate(name)
	if err != nil {
		return nil, "", err
	}
	was := r.fetchWithin(ctx, loc, 0, nil)
	switch {
	case was.status == OK:
		return was.data, was.version, nil
	case was.place == "" && was.quiet:
		return nil, "", nil
	}
	return nil, "", &EditError{Path: loc.shown, Message: "it " + was.problem}
}
