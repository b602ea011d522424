package state

import (
	"context"
	"errors"
	"io/fs"
	"path"
)

// Write writes a whole file in one step: concurrent readers see the old bytes or the new ones. version is the
// [Doc.Version] on which the new bytes are based; "" creates a file that must not exist yet, with its directories. An
// existing file keeps its permissions, and of a link the target is replaced, as with [Root.Apply].
//
// The error is [ErrChanged] if the file has changed since it was read, or exists although it must not; an [*EditError]
// if the path exists and is not a file; a [*PathError]; or wraps an error of ctx or of the system.
func (r *Root) Write(ctx context.Context, name string, data []byte, version string) error {
	if len(data) > MaxFileSize {
		return grown(name)
	}
	return r.Apply(ctx, []Change{{Path: name, Version: version, Op: opWrite, data: data}})
}

// create writes a new file for a target.
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
		// It was just created, or it is a link that leads nowhere.
		return changed(t.loc.shown)
	}
	temp, err := writeTemp(root, path.Dir(place), t.edited, nil)
	if err != nil {
		return t.failed(err)
	}
	defer root.Remove(temp)
	// Unlike a rename, a link never replaces a file created in the meantime.
	err = root.Link(temp, place)
	switch {
	case errors.Is(err, fs.ErrExist):
		return changed(t.loc.shown)
	case err != nil: // not every file system supports links
		if err := root.Rename(temp, place); err != nil {
			return t.failed(err)
		}
	}
	syncDir(root, path.Dir(place))
	return nil
}

// ReadBytes returns the content of a file, to change it with [Root.Write], and the version to pass. A missing file is
// nil with version "". A file that exists and cannot be read is an [*EditError]; an invalid path a [*PathError].
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
