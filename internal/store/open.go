package store

import (
	"errors"
	"io/fs"
	"os"
)

// errNotRegular says that something else has the place of one of ralph's own files.
var errNotRegular = errors.New("it is not a regular file")

// openFile opens one of ralph's own files. It never waits: what is no regular file,
// such as a pipe, is an error.
func openFile(path string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flag|openNonblocking, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
