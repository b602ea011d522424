package host

import (
	"errors"
	"io/fs"
	"os"
)

// errNotRegular is the error for a directory, a pipe or a device.
var errNotRegular = errors.New("it is not a regular file")

// openRegular opens a regular file and returns its size. It looks what the path is before it opens it, since opening a device can have
// effects, and does not wait, since it may have become a pipe in between.
func openRegular(path string) (*os.File, int64, error) {
	if path == "" {
		return nil, 0, fs.ErrNotExist
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, 0, cause(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, 0, cause(err)
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, 0, cause(err)
	}
	return f, info.Size(), nil
}

// cause returns an error without the path, which messages name themselves.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
