package main

import (
	"bytes"
	"io/fs"
	"time"
)

const (
	// stdinName is what diagnostics call a policy that was read from standard input.
	stdinName = "stdin"
	// maxStdinPolicy is more than a policy may hold, so that rules tell that it is too big.
	maxStdinPolicy = 2 << 20
)

// stdinFS is a file system with one file more: the policy on standard input.
type stdinFS struct {
	fs.FS
	src []byte
}

// Open opens the policy, or a file of the file system.
func (s stdinFS) Open(name string) (fs.File, error) {
	if name == stdinName {
		return stdinFile{bytes.NewReader(s.src)}, nil
	}
	return s.FS.Open(name)
}

// stdinFile is the opened policy. It describes itself, too.
type stdinFile struct{ *bytes.Reader }

func (f stdinFile) Stat() (fs.FileInfo, error) { return f, nil }
func (stdinFile) Close() error                 { return nil }
func (stdinFile) Name() string                 { return stdinName }
func (stdinFile) Mode() fs.FileMode            { return 0o444 }
func (stdinFile) ModTime() time.Time           { return time.Time{} }
func (stdinFile) IsDir() bool                  { return false }
func (stdinFile) Sys() any                     { return nil }
