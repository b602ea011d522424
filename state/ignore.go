package state

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// IgnoreFile keeps ralph's own files out of the repository of a project. [Root.Apply]
// writes it with the first archived file; one that it makes ignores itself too, so that
// a clean tree stays clean.
const IgnoreFile = ".ralph/.gitignore"

// maxIgnore is how large an ignore file may be that lines are added to.
const maxIgnore = 1 << 20

// ignoreOwn sees to it that git ignores what ralph writes below .ralph. A file that is
// there gets the lines that it lacks only if first is set: what the user took out stays
// out. It is best effort: a tree that is not clean must not keep a loop from ending.
func ignoreOwn(root *os.Root, first bool) {
	lines, old, mode := []string{"archive/", "runs/"}, []byte(nil), fs.FileMode(0o644)
	switch info, err := root.Lstat(IgnoreFile); {
	case errors.Is(err, fs.ErrNotExist):
		lines = append(lines, ".gitignore")
	case err != nil, !first, !info.Mode().IsRegular(), info.Size() > maxIgnore:
		return
	default:
		f, err := root.Open(IgnoreFile)
		if err != nil {
			return
		}
		defer f.Close()
		if old, err = io.ReadAll(io.LimitReader(f, maxIgnore)); err != nil {
			return
		}
		mode = info.Mode().Perm()
	}
	added := old
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		added = append(added, '\n')
	}
	have := strings.Fields(string(old))
	for _, line := range lines {
		if !slices.Contains(have, line) && !slices.Contains(have, "/"+line) && !slices.Contains(have, "*") {
			added = append(added, line+"\n"...)
		}
	}
	if bytes.Equal(bytes.TrimSpace(added), bytes.TrimSpace(old)) {
		return
	}
	temp, err := writeTemp(root, IgnoreFile, added, mode)
	if err == nil && root.Rename(temp, IgnoreFile) != nil {
		root.Remove(temp)
	}
}
