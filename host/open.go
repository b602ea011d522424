package host

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// errNotRegular is the error for a directory, a pipe or a device.
var errNotRegular = errors.New("it is not a regular file")

// openRegular opens a regular file and returns its size. It looks what the path is before it opens it, since opening a device can have
// effects, and does not wait, since it may have become a pipe in between.
func openRegular(path string) (f *os.File, size int64, err error) {
	check := func(info fs.FileInfo, err error) error {
		if err == nil && !info.Mode().IsRegular() {
			return errNotRegular
		} else if err == nil {
			size = info.Size()
		}
		return cause(err)
	}
	if err := check(os.Stat(path)); err != nil {
		return nil, 0, err
	}
	if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, 0, cause(err)
	}
	if err := check(f.Stat()); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, size, nil
}

// cause returns an error without the path, which messages name themselves.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
