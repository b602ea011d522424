package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ralph-sdk/ralph/internal/syserr"
)

const (
	memoryDir    = "memory"
	memorySuffix = ".json"

	maxMemorySize = 4 << 20

	// maxMemoryHistory is how far a memory file grows before it starts over.
	maxMemoryHistory = 16 << 10
)

// MemoryLock returns the name of the lock for the memory of key, see [Store.Lock]. A caller that saves a memory must
// hold it while saving.
func MemoryLock(key string) string { return lockOf(memoryDir, fileName(key, memorySuffix)) }

// lockOf returns the name of the lock that guards a file of a directory of the store.
func lockOf(dir, file string) string { return dir + "\x00" + file }

func (s *Store) memoryPath(key string) string { return s.path(memoryDir, fileName(key, memorySuffix)) }

// LoadMemory returns the line saved under key and its version, which is "" if there is none. A damaged file is returned
// unchanged, with a version that lets SaveMemory replace it. Errors are [*Error].
func (s *Store) LoadMemory(key string) (line []byte, version string, err error) {
	if s.dir == "" {
		return nil, "", nil
	}
	file, err := readMemory(s.memoryPath(key))
	return bytes.TrimSuffix(file.line, []byte{'\n'}), file.version, failed("read", s.memoryPath(key), err)
}

// SaveMemory saves a line, which must have no line break, under key if the current one has the given version; otherwise
// it returns [ErrChanged]. The caller must hold [MemoryLock], which makes that atomic among processes. The data is not
// synced: after a power failure a memory may be an older one. Other errors are [*Error].
func (s *Store) SaveMemory(key string, line []byte, version string) error {
	if err := s.ensure("write", memoryDir); err != nil {
		return err
	}
	path := s.memoryPath(key)
	old, err := readMemory(path)
	switch {
	case err != nil:
		return failed("read", path, err)
	case old.version != version:
		return fmt.Errorf("%s: %w", syserr.Path(key), ErrChanged)
	}
	return failed("write", path, writeMemory(path, old, append(line, '\n')))
}

// writeMemory appends a line to a memory file, or rewrites the file when it has grown. Replacing a file makes some file
// systems write it out immediately, which costs a hook more than all its other file operations; a line costs next to
// nothing. An incomplete line has no newline and does not count.
func writeMemory(path string, old memoryFile, line []byte) error {
	if old.size == 0 || old.size+int64(len(line)) > maxMemoryHistory {
		return replace(path, line)
	}
	if old.torn {
		line = append([]byte{'\n'}, line...)
	}
	f, _, err := openFile(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// A memoryFile is what is known of a memory file.
type memoryFile struct {
	size    int64
	line    []byte // the last whole one, which counts; the file as it is if there is none
	version string // of the line, "" without a file
	torn    bool   // something follows the line
}

// usualMemory is how far from its end a memory file is read at first, in bytes.
const usualMemory = 2 << 10

// readMemory reads a memory file from its end.
func readMemory(path string) (memoryFile, error) {
	f, info, err := openFile(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return memoryFile{}, nil
	} else if err != nil {
		return memoryFile{}, err
	}
	defer f.Close()
	size := info.Size()
	if size > maxMemorySize {
		return memoryFile{size: size, version: digest(nil)}, nil // as damaged as a memory can be
	}
	for part := int64(usualMemory); ; part = size {
		tail := make([]byte, min(part, size))
		if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
			return memoryFile{}, err
		}
		line, whole := lastLine(tail)
		if whole || int64(len(tail)) == size {
			return memoryFile{size: size, line: line, version: digest(line), torn: size > 0 && tail[len(tail)-1] != '\n'}, nil
		}
	}
}

// lastLine returns the last whole line of the end of a file, and whether its beginning was seen. An end without any
// line is given as it is.
func lastLine(tail []byte) (line []byte, whole bool) {
	end := bytes.LastIndexByte(tail, '\n')
	if end < 0 {
		return tail, false
	}
	start := bytes.LastIndexByte(tail[:end], '\n') + 1
	return tail[start : end+1], start > 0
}
