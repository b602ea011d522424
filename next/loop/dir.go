package loop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Dir returns a store in a directory, which is made with mode 0700 when it is first written. The path is absolute; the directory must
// belong to the user and others must not be able to write to it. Each document is a file: its first line is the key, as JSON, and
// what follows is the document.
//
// Documents of sessions that were not written for 30 days are removed now and then.
func Dir(path string) Store { return &directory{path: path} }

type directory struct {
	keyed
	path string
}

const (
	documentSuffix = ".json"
	lockSuffix     = ".lock"
	maxDocument    = 64 << 20

	unused    = 30 * 24 * time.Hour // documents of sessions are kept so long
	cleaning  = 24 * time.Hour      // is done so often
	cleanedAt = "cleaned"           // a file whose time says when
)

// errNotRegular reports a pipe, a device or a directory where a file of the store should be.
var errNotRegular = errors.New("it is not a regular file")

// file returns the path of a document: what can be read of its key, and a hash, since keys are any texts.
func (d *directory) file(key string) string {
	readable := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, key)
	return filepath.Join(d.path, fmt.Sprintf("%.60s-%.16x%s", readable, sha256.Sum256([]byte(key)), documentSuffix))
}

func (d *directory) Load(ctx context.Context, key string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	_, b, err := readDocument(d.file(key))
	return b, err
}

func (d *directory) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if err := d.make(); err != nil {
		return err
	}
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	path := d.file(key)
	held, err := lockFile(ctx, strings.TrimSuffix(path, documentSuffix)+lockSuffix)
	if err != nil {
		return err
	}
	defer held.Unlock()
	_, old, err := readDocument(path)
	if err != nil {
		return err
	}
	b, err := change(old)
	switch {
	case err != nil:
		return &fs.PathError{Op: "update", Path: path, Err: err}
	case bytes.Equal(b, old):
		return nil
	case len(b) == 0:
		err = os.Remove(path)
	default:
		err = d.write(path, key, b)
	}
	d.clean()
	return err
}

func (d *directory) Keys(ctx context.Context, prefix string) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var keys []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) != documentSuffix || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		key, _, err := readDocument(filepath.Join(d.path, e.Name()))
		if err != nil {
			return nil, err
		}
		if key != "" && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// check refuses a directory that is not safe. One that does not exist is.
func (d *directory) check() error {
	if !filepath.IsAbs(d.path) {
		return fmt.Errorf("the directory of the store is %q: it must be an absolute path", d.path)
	}
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: d.path, Err: syscall.ENOTDIR}
	case runtime.GOOS != "windows" && info.Mode()&0o022 != 0:
		return fmt.Errorf("others can write to %s: run chmod go-w on it", d.path)
	}
	return nil
}

func (d *directory) make() error {
	if err := d.check(); err != nil {
		return err
	}
	return os.MkdirAll(d.path, 0o700)
}

// readDocument returns the key and the bytes of a document, nothing if there is none.
func readDocument(path string) (key string, b []byte, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	} else if err != nil {
		return "", nil, err
	}
	defer f.Close()
	b, err = io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return "", nil, err
	}
	if len(b) > maxDocument {
		return "", nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d MiB", maxDocument>>20)}
	}
	first, b, ok := bytes.Cut(b, []byte("\n"))
	if !ok || len(b) == 0 || json.Unmarshal(first, &key) != nil {
		return "", nil, &fs.PathError{Op: "read", Path: path, Err: errDamaged}
	}
	return key, b, nil
}

// openRegular opens a file without waiting. Anything but a regular file is an error.
func openRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Join(err, errNotRegular)}
	}
	return f, nil
}

// write replaces a document as a whole.
func (d *directory) write(path, key string, b []byte) error {
	first, err := json.Marshal(key)
	if err != nil {
		return err
	}
	t, err := os.CreateTemp(d.path, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = t.Write(slices.Concat(first, []byte("\n"), b))
	if err == nil {
		err = t.Sync() // else a crash of the machine may leave an empty file
	}
	if err := errors.Join(err, t.Close()); err != nil {
		return err
	}
	return os.Rename(t.Name(), path)
}

// lockFile waits for the lock of a file until ctx is done. The lock ends with the process, however it ends.
func lockFile(ctx context.Context, path string) (*flock.Flock, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 16*time.Millisecond) {
		l, err := tryLock(path)
		if err != nil || l != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause/2 + rand.N(pause)): // apart from those who also wait
		}
	}
}

// tryLock takes the lock of a file if it is free, else it returns nil.
func tryLock(path string) (*flock.Flock, error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil || !ok {
		return nil, err
	}
	locked, err := l.Stat()
	if err == nil && !locked.Mode().IsRegular() {
		err = &fs.PathError{Op: "lock", Path: path, Err: errNotRegular}
	}
	// A file that clean removed after it was opened locks nothing.
	if there, gone := os.Stat(path); err != nil || gone != nil || !os.SameFile(locked, there) {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}

// clean removes documents of sessions that were not used for long, and what killed processes left. It does so once a day, and leaves
// what it cannot remove.
func (d *directory) clean() {
	now := time.Now()
	stamp := filepath.Join(d.path, cleanedAt)
	if info, err := os.Lstat(stamp); err == nil && now.Sub(info.ModTime()).Abs() < cleaning {
		return
	}
	f, err := openRegular(stamp, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return
	}
	f.Close()
	if os.Chtimes(stamp, now, now) != nil {
		return
	}
	entries, _ := os.ReadDir(d.path)
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(d.path, e.Name())
		switch {
		case err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < unused:
		case strings.HasPrefix(e.Name(), ".new-"):
			os.Remove(path)
		case filepath.Ext(path) == lockSuffix:
			forget(strings.TrimSuffix(path, lockSuffix))
		}
	}
}

// forget removes a document of a session and its lock, unless it was written lately or is used now.
func forget(path string) {
	l, err := tryLock(path + lockSuffix)
	if err != nil || l == nil {
		return
	}
	defer l.Unlock()
	document := path + documentSuffix
	info, err := os.Lstat(document)
	if err == nil {
		key, _, err := readDocument(document)
		if err != nil || time.Since(info.ModTime()) < unused || !isSession(key) || os.Remove(document) != nil {
			return
		}
	}
	os.Remove(path + lockSuffix)
}
