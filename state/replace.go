package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// ArchiveDir is where archived files go: ArchiveDir/TIME/path.
const ArchiveDir = ".ralph/archive"

// archiveTime is how those folders are named.
const archiveTime = "20060102T150405Z"

// writeTemp writes data into a directory beside the file it is meant to replace, so that
// a rename puts it there in one step. The permissions are those of old, or those that the
// user gives to new files if it is nil. It is on the disk when writeTemp returns, and gone
// if it fails.
func writeTemp(root *os.Root, dir string, data []byte, old *raw) (name string, err error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until it has those of the old one
	}
	name = path.Join(dir, tempPrefix+strconv.FormatUint(rand.Uint64(), 36)+tempSuffix)
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			root.Remove(name)
		}
	}()
	_, err = f.Write(data)
	if err == nil && old != nil {
		err = f.Chmod(old.mode.Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	return name, errors.Join(err, f.Close())
}

// Temporary files are named so that they are known for ours.
const tempPrefix, tempSuffix = ".ralph-", ".tmp"

// A temporary file lives for milliseconds. One that is as old as this was left
// behind by a process that was killed.
const maxTempAge = time.Hour

// sweepTemps removes the temporary files that were left behind in dir.
func sweepTemps(root *os.Root, dir string) {
	d, err := root.OpenFile(dir, os.O_RDONLY|openNonblocking, 0)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
			continue
		}
		info, err := root.Lstat(path.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > maxTempAge {
			root.Remove(path.Join(dir, name))
		}
	}
}

// syncDir makes a rename durable. That it may fail on some file systems is no
// reason to take the rename back.
func syncDir(root *os.Root, dir string) {
	if !dirsNeedSync {
		return
	}
	if d, err := root.OpenFile(dir, os.O_RDONLY|openNonblocking, 0); err == nil {
		d.Sync()
		d.Close()
	}
}

// An archiver finds places for the files that are archived together.
type archiver struct {
	root    *os.Root
	folders map[string]string // folder that was made, by the time that it was made for
	first   bool              // the archive was empty
}

// reserve makes the folder for a file and gives its new name.
func (a *archiver) reserve(rel string, at time.Time) (string, error) {
	if at.IsZero() {
		at = time.Now()
	}
	stamp := at.UTC().Format(archiveTime)
	folder, ok := a.folders[stamp]
	if !ok {
		var err error
		if folder, err = a.makeFolder(stamp); err != nil {
			return "", err
		}
		if a.folders == nil {
			a.folders = map[string]string{}
		}
		a.folders[stamp] = folder
	}
	name := path.Join(folder, rel)
	return name, a.root.MkdirAll(path.Dir(name), 0o755)
}

// makeFolder makes a folder that nothing else uses.
func (a *archiver) makeFolder(stamp string) (string, error) {
	if err := a.root.MkdirAll(ArchiveDir, 0o755); err != nil {
		return "", err
	}
	a.first = a.first || isEmpty(a.root, ArchiveDir)
	for n := 1; n <= 1000; n++ {
		folder := path.Join(ArchiveDir, stamp)
		if n > 1 {
			folder = fmt.Sprintf("%s-%d", folder, n)
		}
		if err := a.root.Mkdir(folder, 0o755); !errors.Is(err, fs.ErrExist) {
			return folder, err
		}
	}
	return "", fs.ErrExist
}

// IgnoreDir makes git ignore a directory of ralph's own by a file in it, which is left alone if it exists. It is best
// effort: a tree that is not clean must not keep a loop from ending.
func IgnoreDir(root *os.Root, dir string) {
	f, err := root.OpenFile(path.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		io.WriteString(f, "*\n")
		f.Close()
	}
}

func isEmpty(root *os.Root, dir string) bool {
	d, err := root.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	_, err = d.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// removeEmpty removes a folder of the archive and those above it that nothing
// was put into.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != ArchiveDir && dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil { // not empty, as it should be
			return
		}
	}
}
