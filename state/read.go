package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// MaxFile is the size in bytes of the largest file that is read or written.
const MaxFile = 16 << 20

// File is a file as it was read.
type File struct {
	Path  string // from the root, with slashes
	Bytes []byte
	Time  time.Time // of its last change
	Mode  fs.FileMode
}

// Read reads a regular file, opened once and without waiting, of at most [MaxFile] bytes. An error that is [fs.ErrNotExist] says that
// nothing is there; any other that it cannot be read: no regular file, a link that leaves the root, too large, not permitted.
func (r *Root) Read(path string) (*File, error) {
	rel, err := local(path)
	if err != nil {
		return nil, fail("read", path, err)
	}
	var file *File
	err = r.within(rel, func(at string) error {
		f, err := r.root.OpenFile(at, os.O_RDONLY|withoutWaiting, 0)
		if err != nil {
			return r.why(at, err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err == nil {
			file, err = readAll(f, info)
		}
		return err
	})
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		err = missing("there is a file instead of its directory")
	case errors.Is(err, syscall.ELOOP):
		err = missing("a link leads to itself")
	case errors.Is(err, syscall.ENAMETOOLONG):
		err = missing("its name is longer than that of any file")
	}
	if err != nil {
		return nil, fail("read", rel, err)
	}
	file.Path = rel
	return file, nil
}

// OpenRegular opens a regular file anywhere for reading, without waiting for what may be a pipe, and describes it. A link is followed. Errors
// are of type [*fs.PathError].
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: irregular(info.Mode())}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadRegular reads a file that OpenRegular opens, of at most [MaxFile] bytes.
func ReadRegular(path string) ([]byte, error) {
	f, info, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := readAll(f, info)
	if err != nil {
		return nil, fail("read", path, err)
	}
	return file.Bytes, nil
}

func readAll(f *os.File, info fs.FileInfo) (*File, error) {
	switch {
	case !info.Mode().IsRegular():
		return nil, irregular(info.Mode())
	case info.Size() > MaxFile:
		return nil, errTooLarge
	}
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, MaxFile+1)); err != nil {
		return nil, err
	}
	if buf.Len() > MaxFile {
		return nil, errTooLarge
	}
	return &File{Bytes: buf.Bytes(), Time: info.ModTime(), Mode: info.Mode()}, nil
}

var errTooLarge = fmt.Errorf("is larger than %d MiB", MaxFile>>20)

// why explains a failed open: a socket and a device without a driver cannot be opened at all.
func (r *Root) why(rel string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	if info, err := r.root.Stat(rel); err == nil && !info.Mode().IsRegular() {
		return irregular(info.Mode())
	}
	return err
}

// irregular names the kind of what is not a regular file.
func irregular(mode fs.FileMode) error {
	kind := "something"
	switch {
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return refused("is " + kind + ", not a regular file")
}

// A file that was changed in the last young seconds may be half written. It is read again after each pause.
const (
	young  = 2 * time.Second
	pause  = 50 * time.Millisecond
	pauses = 20
)

// ReadSettled reads a file until parse accepts it, for a file that was changed in the last two seconds: again for up to a second. It
// returns the last reading and what parse made of it. Without a file, parse is not called.
func (r *Root) ReadSettled(ctx context.Context, path string, parse func([]byte) (any, error)) (*File, any, error) {
	for try := 0; ; try++ {
		f, err := r.Read(path)
		if err != nil {
			return nil, nil, err
		}
		v, err := parse(f.Bytes)
		// A time in the future is another clock's, and says nothing.
		if age := time.Since(f.Time).Abs(); err == nil || try == pauses || age > young {
			return f, v, err
		}
		select {
		case <-ctx.Done():
			return f, v, err
		case <-time.After(pause):
		}
	}
}
