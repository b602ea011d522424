package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// maxLog is how large a log grows before it is rotated.
const maxLog = 8 << 20

// Log returns a recorder that appends to a file, one JSON object a line. The file has mode 0600, and its directory 0700 if it is made.
// A file of 8 MiB is renamed to one with .1 at its end, which replaces the one before. Several processes may use the same file.
func Log(path string) Recorder {
	return func(_ context.Context, r Record) error {
		var b bytes.Buffer
		enc := json.NewEncoder(&b) // one line, since JSON has no line breaks
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		f, size, err := openLog(path)
		if err == nil && size >= maxLog && rotate(path, f) {
			f.Close()
			f, size, err = openLog(path)
		}
		if err != nil {
			return err
		}
		line := b.Bytes()
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); size > 0 && err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...) // a writer was ended, or the disk was full, within a line
		}
		_, err = f.Write(line) // one write, so that lines of several processes stay apart
		return errors.Join(err, f.Close())
	}
}

func openLog(path string) (*os.File, int64, error) {
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// rotate moves a full log away, unless another process does it. A process that has the old file open writes its line there.
func rotate(path string, f *os.File) bool {
	l, err := tryLock(path + lockSuffix)
	if err != nil || l == nil {
		return false
	}
	defer l.Unlock()
	full, err := f.Stat()
	now, gone := os.Stat(path)
	if err != nil || gone != nil || !os.SameFile(full, now) {
		return true // another process did it
	}
	return os.Rename(path, path+".1") == nil
}
