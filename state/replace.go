package state

import (
	"cmp"
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
	root *os.Root
	dir  string // that all of them go to, "" before the first
}

// reserve makes the directory for a file and returns its new name.
func (a *archiver) reserve(rel string, at time.Time) (name string, err error) {
	if a.dir == "" {
		if a.dir, err = makeArchive(a.root, cmp.Or(at, time.Now())); err != nil {
			return "", err
		}
	}
	name = path.Join(a.dir, rel)
	return name, a.root.MkdirAll(path.Dir(name), 0o755)
}

// makeArchive makes a directory in the archive that nothing else uses. git ignores a new archive.
func makeArchive(root *os.Root, at time.Time) (dir string, err error) {
	if err := root.MkdirAll(path.Dir(ArchiveDir), 0o755); err != nil {
		return "", err
	}
	if root.Mkdir(ArchiveDir, 0o755) == nil {
		IgnoreDir(root, ArchiveDir)
	}
	stamp := path.Join(ArchiveDir, at.UTC().Format(archiveTime))
	dir, err = stamp, root.Mkdir(stamp, 0o755)
	for n := 2; n <= 1000 && errors.Is(err, fs.ErrExist); n++ {
		dir = fmt.Sprintf("%s-%d", stamp, n)
		err = root.Mkdir(dir, 0o755)
	}
	return dir, err
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

// removeEmpty removes a folder of the archive and those above it that nothing
// was put into.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != ArchiveDir && dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil { // not empty, as it should be
			return
		}
	}
}
