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

// ArchiveDir is the directory of archived files: ArchiveDir/TIME/path.
const ArchiveDir = ".ralph/archive"

// archiveTime is the format of TIME.
const archiveTime = "20060102T150405Z"

// writeTemp writes data to a new file in the directory of the one to replace, so that a rename replaces it in one step.
// The permissions are those of old, or if it is nil the user's default for new files. The data is on disk when
// writeTemp returns; after an error the file is removed.
func writeTemp(root *os.Root, dir string, data []byte, old *raw) (name string, err error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until it has the old ones
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

// The name of a temporary file, by which it is recognized.
const tempPrefix, tempSuffix = ".ralph-", ".tmp"

// A temporary file exists for milliseconds. An older one is from a killed process.
const maxTempAge = time.Hour

// sweepTemps removes leftover temporary files in dir.
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

// syncDir makes a rename durable. Some file systems do not support it; that does not undo the rename.
func syncDir(root *os.Root, dir string) {
	if !dirsNeedSync {
		return
	}
	if d, err := root.OpenFile(dir, os.O_RDONLY|openNonblocking, 0); err == nil {
		d.Sync()
		d.Close()
	}
}

// An archiver provides paths for files that are archived together.
type archiver struct {
	root *os.Root
	dir  string // the common directory, "" before the first
}

// reserve creates the directory for a file and returns its new name.
func (a *archiver) reserve(rel string, at time.Time) (name string, err error) {
	if a.dir == "" {
		if a.dir, err = makeArchive(a.root, cmp.Or(at, time.Now())); err != nil {
			return "", err
		}
	}
	name = path.Join(a.dir, rel)
	return name, a.root.MkdirAll(path.Dir(name), 0o755)
}

// makeArchive creates a new directory in the archive. It makes git ignore a new archive.
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

// IgnoreDir makes git ignore one of ralph's directories with a file in it, unless that exists. It is best effort: a
// modified tree must not keep a loop from ending.
func IgnoreDir(root *os.Root, dir string) {
	f, err := root.OpenFile(path.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		io.WriteString(f, "*\n")
		f.Close()
	}
}

// removeEmpty removes an empty directory of the archive and its empty parents.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != ArchiveDir && dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil { // not empty, as expected
			return
		}
	}
}
