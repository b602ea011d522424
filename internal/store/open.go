package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errNotRegular reports that one of ralph's own files is not a regular file.
var errNotRegular = errors.New("it is not a regular file")

// openFile opens one of ralph's own files. It never blocks: anything but a regular file, such as a pipe, is an error.
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

// readFile returns one of ralph's own files, which has at most so many bytes. In a directory that is none it does not exist.
func readFile(path string, most int) ([]byte, error) {
	f, _, err := openFile(path, os.O_RDONLY)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if len(data) > most {
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	return data, err
}

// write puts a file of the store in place as a whole, with at most so many bytes. The error is an [*Error].
func (s *Store) write(op string, data []byte, most int, names ...string) error {
	if err := s.ensure(op, names[:len(names)-1]...); err != nil {
		return err
	}
	path := s.path(names...)
	if len(data) > most {
		return failed(op, path, fmt.Errorf("it is too large: %d bytes, the limit is %d", len(data), most))
	}
	return failed(op, path, replace(path, data))
}

// list returns the files of a directory that end with suffix, sorted. The error is an [*Error].
func (s *Store) list(suffix string, names ...string) (files []string, err error) {
	if s.dir == "" {
		return nil, nil
	}
	dir := s.path(names...)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), suffix) {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return files, failed("list", dir, err)
}

// remove removes a file, which may be gone already.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
