package rules

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	stdpath "path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// file is a policy, or what it includes or names, as it was read.
type file struct {
	name string // as diagnostics show it
	path string // within its file system
	src  []byte
	fs   includeFS
}

// includeFS is where the includes and schemas of a file are looked up.
type includeFS struct {
	fsys   fs.FS
	prefix string // "ralph:" for shipped files
}

// readFile reads a file of at most the size that a policy may have.
func readFile(at includeFS, name string) (*file, error) {
	shown := at.prefix + name
	src, err := readCapped(at.fsys, name)
	switch {
	case err == nil:
		return &file{name: shown, path: name, src: src, fs: at}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", shown)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return nil, fmt.Errorf("%s cannot be read: %w", shown, err)
}

// readCapped reads a regular file of bearable size. One that grows meanwhile is read
// so far that its parser says so.
func readCapped(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // before it is opened: a pipe would block
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > source.MaxSize {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", info.Size(), source.MaxSize)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src := make([]byte, 0, info.Size()+bytesBehind)
	for len(src) <= source.MaxSize {
		if len(src) == cap(src) {
			src = slices.Grow(src, 4096)
		}
		n, err := f.Read(src[len(src):cap(src)])
		src = src[:len(src)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return src, nil
}

// bytesBehind leaves room to see the end of a file without growing the buffer.
const bytesBehind = 16

// beside resolves the name of a file relative to the file that names it.
func beside(f *file, name string) (string, error) {
	at := stdpath.Join(stdpath.Dir(f.path), name)
	switch {
	case strings.HasPrefix(name, "/"), strings.Contains(name, `\`), len(name) > 1 && name[1] == ':' && isLetter(name[0]):
		return "", fmt.Errorf("%s must be relative to the file that names it, with slashes", name)
	case strings.HasPrefix(name, "~"):
		return "", fmt.Errorf("%s begins with ~; name a file beside this one", name)
	case at == "..", strings.HasPrefix(at, "../"):
		return "", fmt.Errorf("%s leads out of the folder that policies are read from", name)
	}
	return at, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
