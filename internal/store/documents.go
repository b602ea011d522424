package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	documentDir    = "documents" // of kinds that are not ralph's own
	documentSuffix = ".json"

	maxDocument = 32 << 20
)

// documentDirs returns the directory of a kind: ralph's own kinds begin with one of its words, and what follows is the
// collection in which a list looks.
func documentDirs(kind string) []string {
	word, rest, _ := strings.Cut(kind, " ")
	switch {
	case !slices.Contains([]string{orderDir, hintDir, trustDir, runDir}, word):
		return []string{documentDir, part(kind)}
	case rest != "":
		return []string{word, part(rest)}
	}
	return []string{word}
}

// documentFile returns the names below the store of a document's file. A name that can be that of a file is it, so that a file
// whose text is lost is still found by the name of its file.
func documentFile(kind, name string) []string {
	file := name
	if !isRunID(name) {
		file = digest([]byte(name))
	}
	return append(documentDirs(kind), file+documentSuffix)
}

// documentLock returns the name of the lock of a document.
func documentLock(kind, name string) string {
	names := documentFile(kind, name)
	return lockOf(strings.Join(names[:len(names)-1], "/"), names[len(names)-1])
}

// HasDocument reports whether a document exists, whatever is at its path. The error is an [*Error].
func (s *Store) HasDocument(kind, name string) (bool, error) {
	if s.dir == "" {
		return false, nil
	}
	return there(s.path(documentFile(kind, name)...))
}

// unreadable is the version of a document that is there and cannot be read, so that it can be removed.
const unreadable = "unreadable"

// Document returns a document and its version, "" if there is none. One that cannot be read has a version, too. The error
// is an [*Error].
func (s *Store) Document(kind, name string) (data []byte, version string, err error) {
	if s.dir == "" {
		return nil, "", nil
	}
	path := s.path(documentFile(kind, name)...)
	if any, err := there(path); !any {
		return nil, "", err
	}
	at, data, version, err := readDocument(path)
	if err == nil && version != "" && at != name {
		data, version, err = nil, unreadable, errors.New("it is another document")
	}
	return data, version, failed("read", path, err)
}

// readDocument reads the file of a document. Its first line is the name, which the name of the file may not show.
func readDocument(path string) (name string, data []byte, version string, err error) {
	text, err := readFile(path, maxDocument)
	if errors.Is(err, fs.ErrNotExist) && !exists(path) { // not a link to nothing
		return "", nil, "", nil
	}
	if err != nil {
		return "", nil, unreadable, err
	}
	first, data, whole := bytes.Cut(text, []byte{'\n'})
	if !whole || json.Unmarshal(first, &name) != nil {
		return "", nil, unreadable, errors.New("it is damaged")
	}
	return name, data, digest(text), nil
}

// PutDocument replaces a document that still has a version, "" to create it, or without data removes it. Otherwise it
// returns [ErrChanged]. Other errors are [*Error].
func (s *Store) PutDocument(ctx context.Context, kind, name string, data []byte, version string) error {
	unlock, err := s.Lock(ctx, []string{documentLock(kind, name)})
	if err != nil {
		return err
	}
	defer unlock()
	names := documentFile(kind, name)
	path := s.path(names...)
	switch _, now, err := s.Document(kind, name); {
	case now != version:
		return fmt.Errorf("the document %w", ErrChanged)
	case err != nil && len(data) > 0:
		return err
	case len(data) == 0 && now == "":
		return nil
	case len(data) == 0:
		return failed("remove", path, os.RemoveAll(path))
	}
	first, err := json.Marshal(name)
	if err != nil {
		return failed("write", path, err)
	}
	return s.write("write", slices.Concat(first, []byte{'\n'}, data), maxDocument, names...)
}

// DocumentNames returns the names of the documents of a kind, in the order of their files. A document that cannot be read is
// an error with the name of its file, which names it, too; the list continues.
func (s *Store) DocumentNames(kind string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		files, err := s.list(documentSuffix, documentDirs(kind)...)
		if err != nil {
			yield("", err)
			return
		}
		for _, path := range files {
			name, _, version, err := readDocument(path)
			if err == nil && s.path(documentFile(kind, name)...) != path {
				err = errors.New("it is another document")
			}
			if err != nil {
				name = strings.TrimSuffix(filepath.Base(path), documentSuffix)
			}
			if version != "" && !yield(name, failed("read", path, err)) {
				return
			}
		}
	}
}

// there reports whether there is anything at a path. The error is an [*Error].
func there(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, failed("read", path, err)
}
