package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// File is an open session file. An [*os.File] is one.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// ErrNotRegular is the cause of a [ReadError] if the path is a directory, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// ReadError reports why a session file was not read. Unwrap returns the cause: fs.ErrNotExist, ErrNotRegular, the
// context's error, or a system error.
type ReadError struct {
	Path string
	Err  error
}

func (e *ReadError) Error() string {
	err := e.Err
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // it repeats the path
	}
	return fmt.Sprintf("transcript %s: %v", e.Path, err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// open opens a regular file and returns its size.
func open(path string, opener func(string) (File, error)) (File, int64, error) {
	if path == "" {
		return nil, 0, fs.ErrNotExist
	}
	if opener == nil {
		opener = openOnDisk
	}
	file, err := opener(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// openOnDisk checks what the path is before it opens it, since opening a device can have effects, and opens it without
// waiting, since it may have become a pipe in between.
func openOnDisk(path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	file, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err // not f, which would be a non-nil File that holds nil
	}
	return file, nil
}
