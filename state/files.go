package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files returns a file system for reading the files below a directory. As with a [Root] no link leads out of the
// directory, and links within it work. Opening never blocks: anything but a regular file or a directory is an error.
// [fs.ReadFile] reads at most [MaxFileSize] bytes, and fails if there are more.
func Files(dir string) fs.FS { return files{dir} }

type files struct{ dir string }

var (
	errNotAFile = errors.New("it is not a regular file")
	errTooLarge = fmt.Errorf("it is larger than %d MiB", MaxFileSize>>20)
)

// Open opens a regular file or a directory.
func (f files) Open(name string) (fs.File, error) {
	base, rel, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(base + asDir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(rel, os.O_RDONLY|openNonblocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotAFile}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// ReadFile reads a regular file of at most [MaxFileSize] bytes.
func (f files) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, MaxFileSize+1))
	if err == nil && len(src) > MaxFileSize {
		src, err = nil, &fs.PathError{Op: "read", Path: name, Err: errTooLarge}
	}
	return src, err
}

// Stat describes the target of a name, without opening it.
func (f files) Stat(name string) (fs.FileInfo, error) {
	base, rel, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Lstat(filepath.Join(base, filepath.FromSlash(rel)))
}

// find resolves links of the directory and of a name in it.
func (f files) find(op, name string) (base, rel string, err error) {
	if !fs.ValidPath(name) {
		return "", "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if base, err = filepath.Abs(f.dir); err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err == nil {
		rel, err = follow(base, name)
	}
	var system *fs.PathError
	if err != nil && !errors.As(err, &system) {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return base, rel, err
}
