package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-sdk/ralph/internal/syserr"
)

const (
	memoryDir    = "memory"
	memorySuffix = ".json"

	maxMemorySize = 4 << 20

	// maxMemoryHistory is how far a memory file grows before it begins anew.
	maxMemoryHistory = 16 << 10
)

// MaxGiven is how many times of one rule a memory keeps, see [Memory.Trim].
const MaxGiven = 1000

// maxGivenRules bounds how many rules a memory keeps times of.
const maxGivenRules = 1000

// A Memory is what a loop remembers from one event to the next. A row is the
// continuations given one after another within one turn.
type Memory struct {
	Turn          string             `json:"turn,omitempty"`          // the turn that the row belongs to
	Continuations int                `json:"continuations,omitempty"` // in this row
	Total         int                `json:"total,omitempty"`         // in this session
	Progress      string             `json:"progress,omitempty"`      // fingerprint of the progress at the latest continuation
	Same          int                `json:"same,omitempty"`          // how many of the row's latest continuations had that progress
	Since         time.Time          `json:"since,omitzero"`          // the row's first continuation; zero if none
	Latest        time.Time          `json:"latest,omitzero"`         // the row's latest continuation; zero if none
	Given         map[string][]Given `json:"given,omitempty"`         // rule to the times that it was in a verdict, oldest first
}

// Given is one time that a rule was in a verdict.
type Given struct {
	At   time.Time `json:"at"`
	Turn string    `json:"turn,omitempty"`
}

// Trim forgets all but the latest keep times of every rule. SaveMemory trims
// to MaxGiven by itself; trim to less if no rule asks for more.
func (m *Memory) Trim(keep int) {
	keep = max(keep, 0)
	for rule, times := range m.Given {
		switch {
		case keep == 0 || len(times) == 0:
			delete(m.Given, rule)
		case len(times) > keep:
			m.Given[rule] = append([]Given(nil), times[len(times)-keep:]...)
		}
	}
}

// LoadMemory reads the memory of key, which is of any form. Absence is the
// zero Memory with version "". A memory that cannot be understood is the zero
// Memory too, with a [*Error] that says so and a version that lets
// SaveMemory replace it: the caller goes on.
func (s *Store) LoadMemory(key string) (m Memory, version string, err error) {
	if s.dir == "" {
		return Memory{}, "", nil
	}
	path := s.path(memoryDir, fileName(key, memorySuffix))
	file, err := readMemory(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Memory{}, "", nil
	case err != nil:
		return Memory{}, "", &Error{Path: path, Op: "read", Err: err}
	}
	version = digest(file.line)
	if err := json.Unmarshal(file.line, &m); err != nil {
		return Memory{}, version, &Error{Path: path, Op: "read", Err: fmt.Errorf("the memory of this loop is damaged and starts anew: %w", err)}
	}
	return m, version, nil
}

// MemoryLock is the name of the lock that guards the memory of key, see
// [Store.Lock]. Who reads a memory in order to save it holds that lock at least
// while it saves.
func MemoryLock(key string) string { return memoryLock(fileName(key, memorySuffix)) }

func memoryLock(file string) string { return "memory\x00" + file }

// SaveMemory writes the memory of key if it is still of the given version,
// else it fails with [ErrChanged]. The caller holds the lock [MemoryLock],
// which makes that atomic among all processes. It is not synced to the disk:
// after a power failure a memory may be an older one. Other errors are
// [*Error].
func (s *Store) SaveMemory(key string, m Memory, version string) error {
	if err := s.ensure("write", memoryDir); err != nil {
		return err
	}
	path := s.path(memoryDir, fileName(key, memorySuffix))
	current := ""
	old, err := readMemory(path)
	switch {
	case err == nil:
		current = digest(old.line)
	case !errors.Is(err, fs.ErrNotExist):
		return &Error{Path: path, Op: "read", Err: err}
	}
	if current != version {
		return fmt.Errorf("%s: %w", syserr.Path(key), ErrChanged)
	}
	m.Given = boundedGiven(m.Given)
	line, err := json.Marshal(m)
	if err != nil {
		return &Error{Path: path, Op: "write", Err: err}
	}
	if err := writeMemory(path, old, append(line, '\n')); err != nil {
		return &Error{Path: path, Op: "write", Err: err}
	}
	return nil
}

// writeMemory adds a line to a memory file, or begins it anew when it has grown.
// Replacing a file makes some file systems write it out at once, which costs a
// hook more than all else that it does with files; a line costs next to nothing.
// A line that is torn, because the process or the disk ended, has no newline and
// does not count.
func writeMemory(path string, old memoryFile, line []byte) error {
	if old.size == 0 || old.size+int64(len(line)) > maxMemoryHistory {
		return replaceOwn(path, line)
	}
	if old.torn {
		line = append([]byte{'\n'}, line...)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// A memoryFile is what is known of a memory file.
type memoryFile struct {
	size int64
	line []byte // the last whole one, which counts; the file as it is if there is none
	torn bool   // something stands behind the line
}

// usualMemory is how far from its end a memory file is read at first, in bytes.
const usualMemory = 2 << 10

// readMemory reads a memory file from its end.
func readMemory(path string) (memoryFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return memoryFile{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return memoryFile{}, err
	}
	size := info.Size()
	if size > maxMemorySize {
		return memoryFile{size: size}, nil // as damaged as a memory can be
	}
	for part := int64(usualMemory); ; part = size {
		tail := make([]byte, min(part, size))
		if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
			return memoryFile{}, err
		}
		line, whole := lastLine(tail)
		if whole || int64(len(tail)) == size {
			return memoryFile{size: size, line: line, torn: size > 0 && tail[len(tail)-1] != '\n'}, nil
		}
	}
}

// lastLine gives the last whole line of the end of a file, and whether its
// beginning was seen. An end without any line is given as it is.
func lastLine(tail []byte) (line []byte, whole bool) {
	end := bytes.LastIndexByte(tail, '\n')
	if end < 0 {
		return tail, false
	}
	start := bytes.LastIndexByte(tail[:end], '\n') + 1
	return tail[start : end+1], start > 0
}

// boundedGiven is a copy that is small enough to be kept. If there are too
// many rules, those that were given longest ago are forgotten.
func boundedGiven(given map[string][]Given) map[string][]Given {
	if len(given) == 0 {
		return nil
	}
	m := Memory{Given: make(map[string][]Given, len(given))}
	for rule, times := range given {
		m.Given[rule] = times
	}
	m.Trim(MaxGiven)
	for len(m.Given) > maxGivenRules {
		oldest := ""
		for rule, times := range m.Given {
			if oldest == "" || times[len(times)-1].At.Before(m.Given[oldest][len(m.Given[oldest])-1].At) {
				oldest = rule
			}
		}
		delete(m.Given, oldest)
	}
	return m.Given
}

// replaceOwn writes one of ralph's own files by way of a temporary one.
func replaceOwn(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
