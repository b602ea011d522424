package loop

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/state"
)

// Dir returns a store in a directory, which is made with mode 0700 when it is first written. The path is absolute. Where others can write to
// the directory, Update and Keys fail. Each document is a file: its first line is the key, as JSON, and
// what follows is the document. A lock beside it holds other processes off.
//
// Documents of sessions that were not written for 30 days are removed now and then.
func Dir(path string) Store { return directory(path) }

type directory string

const (
	documentSuffix = ".json"
	lockSuffix     = ".lock"
	lockPause      = 16 * time.Millisecond // about so long between two looks at a lock; less, and those who wait take the time of the one who works

	unused    = 30 * 24 * time.Hour // documents of sessions are kept so long
	cleaning  = 24 * time.Hour      // is done so often
	cleanedAt = "cleaned"           // a directory whose time says when
)

// file returns the path of a document without its ending: what can be read of its key, and a hash, since keys are any texts.
func (d directory) file(key string) string {
	readable := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, key)
	return filepath.Join(string(d), fmt.Sprintf("%.60s-%.16x", readable, sha256.Sum256([]byte(key))))
}

func (d directory) Load(ctx context.Context, key string) ([]byte, error) {
	if !filepath.IsAbs(string(d)) || ctx.Err() != nil {
		return nil, d.check(ctx)
	}
	_, b, err := readDocument(d.file(key) + documentSuffix)
	return b, err
}

func (d directory) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	err := d.check(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(string(d), 0o700)
	}
	if err != nil {
		return err
	}
	path := d.file(key) + documentSuffix
	made := false
	defer func() { // when the lock is free
		if made {
			d.clean(ctx) // so that there are not ever more
		}
	}()
	lock, err := lockFile(ctx, d.file(key)+lockSuffix)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	_, old, err := readDocument(path)
	if err != nil {
		return err
	}
	made = len(old) == 0
	b, err := change(old)
	switch {
	case err != nil:
		return &fs.PathError{Op: "update", Path: path, Err: err}
	case bytes.Equal(b, old):
		return nil
	case len(b) == 0:
		err = os.Remove(path)
		_ = os.Remove(lock.Path()) // fails where an open file stays; see lockFile
		return err
	}
	return writeDocument(path, key, b)
}

// Keys lists what it can, also with an error.
func (d directory) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := d.check(ctx); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	files, err := d.documents()
	var keys []string
	for _, file := range files {
		key, _, err2 := readDocument(file)
		err = errors.Join(err, err2)
		if key != "" && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, err
}

// documents returns the files of documents.
func (d directory) documents() (files []string, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		if filepath.Ext(e.Name()) == documentSuffix {
			files = append(files, filepath.Join(string(d), e.Name()))
		}
	}
	return files, err
}

// check refuses a directory that is not safe. One that is missing is an fs.ErrNotExist.
func (d directory) check(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !filepath.IsAbs(string(d)) {
		return fmt.Errorf("the directory of the store is %q: it must be an absolute path", string(d))
	}
	info, err := os.Stat(string(d))
	if err == nil && runtime.GOOS != "windows" && info.Mode()&0o022 != 0 {
		return fmt.Errorf("others can write to %s: run chmod go-w on it", string(d))
	}
	return err
}

// readDocument returns the key and the bytes of a document, nothing if there is none.
func readDocument(path string) (key string, b []byte, err error) {
	b, err = state.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	} else if err != nil {
		return "", nil, err
	}
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	if len(rest) == 0 || json.Unmarshal(first, &key) != nil {
		return "", nil, &fs.PathError{Op: "read", Path: path, Err: errDamaged}
	}
	return key, rest, nil
}

// writeDocument replaces a document as a whole, while its lock is held.
func writeDocument(path, key string, b []byte) error {
	temp := path + ".new"
	_ = os.Remove(temp) // of a process that was killed; what stays fails below
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text.JSON(key) + "\n" + string(b))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil { // without Sync, a crash of the machine may leave an empty file
		return err
	}
	return os.Rename(temp, path)
}

// lockFile waits for the lock of a file until ctx is done. The lock ends with the process, however it ends.
func lockFile(ctx context.Context, path string) (*flock.Flock, error) {
	for {
		l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
		if _, err := l.TryLockContext(ctx, lockPause/2+rand.N(lockPause)); err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
		locked, err := l.Stat()
		if err == nil && !locked.Mode().IsRegular() {
			err = &fs.PathError{Op: "lock", Path: path, Err: errors.New("it is not a regular file")}
		}
		there, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(locked, there) {
			return l, nil
		}
		// A file that was removed after it was opened locks nothing.
		if err := errors.Join(err, l.Unlock()); err != nil {
			return nil, err
		}
	}
}

// clean removes documents of sessions that were not written for long. It does so once a day, and leaves what it cannot remove.
func (d directory) clean(ctx context.Context) {
	stamp := filepath.Join(string(d), cleanedAt)
	if info, err := os.Lstat(stamp); err == nil && time.Since(info.ModTime()).Abs() < cleaning {
		return
	}
	_ = os.Remove(stamp)
	if os.Mkdir(stamp, 0o700) != nil { // of several processes, one makes it
		return
	}
	isSession := regexp.MustCompile("^(@[^/]*/)?" + sessionKind + "/")
	files, _ := d.documents()
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil || time.Since(info.ModTime()) < unused {
			continue
		}
		key, b, _ := readDocument(file)
		if !isSession.MatchString(key) {
			continue
		}
		_ = d.Update(ctx, key, func(old []byte) ([]byte, error) {
			if bytes.Equal(old, b) {
				return nil, nil
			}
			return old, nil
		})
	}
}
