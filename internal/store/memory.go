package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	memoryDir    = "entries"
	resetDir     = "reset" // what a person moved out of memoryDir
	memorySuffix = ".json"

	maxMemorySize = 4 << 20

	// maxMemoryHistory is how far a memory file grows before it starts over.
	maxMemoryHistory = 16 << 10
)

// A MemoryKey names a memory. Each part is in the name of its file, so that [Store.ResetMemories] also finds a file that
// cannot be read.
type MemoryKey struct {
	Root, Policy, Session string
	Rest                  string // what else the key has
}

// NoSession is the session of events that name none.
const NoSession = "-"

// file returns the name of the memory's file.
func (k MemoryKey) file() string {
	return strings.Join([]string{part(k.Root), part(k.Policy), part(k.Session), part(k.Rest)}, "-") + memorySuffix
}

// part returns a key, or a part of one, in the name of a file.
func part(key string) string { return digest([]byte(key))[:24] }

// MemoryLock returns the name of the lock for the memory of key, see [Store.Lock]. A caller that saves a memory must
// hold it while saving.
func MemoryLock(key MemoryKey) string { return lockOf(memoryDir, key.file()) }

// lockOf returns the name of the lock that guards a file of a directory of the store.
func lockOf(dir, file string) string { return dir + "\x00" + file }

func (s *Store) memoryPath(key MemoryKey) string { return s.path(memoryDir, key.file()) }

// LoadMemory returns the line saved under key and its version, which is "" if there is no file. A file that holds no
// whole line, or something else, is an error: what it counted is unknown. Errors are [*Error].
func (s *Store) LoadMemory(key MemoryKey) (line []byte, version string, err error) {
	if s.dir == "" {
		return nil, "", nil
	}
	file, err := readMemory(s.memoryPath(key))
	return bytes.TrimSuffix(file.line, []byte{'\n'}), file.version, failed("read", s.memoryPath(key), err)
}

// SaveMemory saves a line, which must have no line break, under key if the current one has the given version; otherwise
// it returns [ErrChanged]. The caller must hold [MemoryLock], which makes that atomic among processes. The data is not
// synced: after a power failure a memory may be an older one. Other errors are [*Error].
func (s *Store) SaveMemory(key MemoryKey, line []byte, version string) error {
	if err := s.ensure("write", memoryDir); err != nil {
		return err
	}
	path := s.memoryPath(key)
	old, err := readMemory(path)
	switch {
	case err != nil:
		return failed("read", path, err)
	case old.version != version:
		return fmt.Errorf("the memory %w", ErrChanged)
	}
	return failed("write", path, writeMemory(path, old, append(line, '\n')))
}

// MemoryVersion returns the version of a line that [Store.SaveMemory] saved.
func MemoryVersion(line []byte) string { return digest(append(line[:len(line):len(line)], '\n')) }

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
	line    []byte // the last whole one, which counts
	version string // of the line, "" without a file
	torn    bool   // an incomplete line follows
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
	switch {
	case size == 0:
		return memoryFile{}, errors.New("it is empty")
	case size > maxMemorySize:
		return memoryFile{}, fmt.Errorf("it is larger than %d bytes", maxMemorySize)
	}
	for part := int64(usualMemory); ; part = size {
		tail := make([]byte, min(part, size))
		if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
			return memoryFile{}, err
		}
		line, rest, whole := lastLine(tail)
		switch {
		case !whole && int64(len(tail)) < size:
			continue
		case line == nil, len(rest) > 0 && rest[0] != '{':
			return memoryFile{}, errors.New("it is damaged")
		}
		return memoryFile{size: size, line: line, version: digest(line), torn: len(rest) > 0}, nil
	}
}

// lastLine returns the last whole line of the end of a file, nil if there is none, what follows it, and whether its
// beginning was seen.
func lastLine(tail []byte) (line, rest []byte, whole bool) {
	end := bytes.LastIndexByte(tail, '\n')
	if end < 0 {
		return nil, tail, false
	}
	start := bytes.LastIndexByte(tail[:end], '\n') + 1
	return tail[start : end+1], tail[end+1:], start > 0
}

// Memories returns the line and version of each memory that can be read.
func (s *Store) Memories() iter.Seq2[[]byte, string] {
	return func(yield func([]byte, string) bool) {
		files, _ := s.list(memorySuffix, memoryDir)
		for _, path := range files {
			file, err := readMemory(path)
			if err == nil && file.version != "" && !yield(bytes.TrimSuffix(file.line, []byte{'\n'}), file.version) {
				return
			}
		}
	}
}

// ResetMemories moves memories to another directory of the store, where they are kept as long as those that are not used:
// the memories of a project, with a policy or a session only theirs, and what those sessions and the given ones count for
// all policies. It returns the new paths. What a memory holds does not matter. The error is an [*Error].
func (s *Store) ResetMemories(ctx context.Context, now time.Time, root, policy, session string, sessions []string) (moved []string, err error) {
	files, err := s.list(memorySuffix, memoryDir)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	all := part("") // of a part that is not set
	of := map[string]bool{}
	for _, id := range sessions {
		of[part(id)] = true
	}
	var chosen []string
	var shared [][2]string // what a session counts for all policies: the path, and the session's part of the name
	for _, path := range files {
		parts := strings.Split(strings.TrimSuffix(filepath.Base(path), memorySuffix), "-")
		switch {
		case len(parts) != 4 || session != "" && parts[2] != part(session):
		case parts[1] == all && parts[2] != all && (parts[0] == all || parts[0] == part(root)):
			shared = append(shared, [2]string{path, parts[2]})
		case parts[0] == part(root) && (policy == "" || parts[1] == part(policy)):
			chosen = append(chosen, path)
			of[parts[2]] = true
		}
	}
	for _, f := range shared {
		if of[f[1]] {
			chosen = append(chosen, f[0])
		}
	}
	for _, path := range chosen {
		to, err := s.moveAside(ctx, now, path)
		if err != nil {
			return moved, err
		}
		moved = append(moved, to)
	}
	return moved, nil
}

// moveAside moves a memory that no process is writing.
func (s *Store) moveAside(ctx context.Context, now time.Time, path string) (to string, err error) {
	if err := s.ensure("reset", resetDir); err != nil {
		return "", err
	}
	unlock, err := s.Lock(ctx, []string{lockOf(memoryDir, filepath.Base(path))})
	if err != nil {
		return "", err
	}
	defer unlock()
	to = s.path(resetDir, LineID(now)+"-"+filepath.Base(path))
	if err := os.Rename(path, to); err != nil {
		return "", failed("reset", path, err)
	}
	_ = os.Chtimes(to, now, now) // it is kept from now on; a link to nothing has no time
	return to, nil
}
