package project

import (
	"bytes"
	"io/fs"
	"time"
)

// oneMore is a file system with one more file.
type oneMore struct {
	fs.FS
	name string
	src  []byte
}

// Open opens that file, or one of the file system.
func (s oneMore) Open(name string) (fs.File, error) {
	if name == s.name {
		return givenFile{bytes.NewReader(s.src), name}, nil
	}
	return s.FS.Open(name)
}

// givenFile is the opened file, and its own FileInfo.
type givenFile struct {
	*bytes.Reader
	name string
}

func (f givenFile) Stat() (fs.FileInfo, error) { return f, nil }
func (givenFile) Close() error                 { return nil }
func (f givenFile) Name() string               { return f.name }
func (givenFile) Mode() fs.FileMode            { return 0o444 }
func (givenFile) ModTime() time.Time           { return time.Time{} }
func (givenFile) IsDir() bool                  { return false }
func (givenFile) Sys() any                     { return nil }
