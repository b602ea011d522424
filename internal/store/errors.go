package store

import (
	"errors"
	"fmt"

	"github.com/ralph-sdk/ralph/internal/syserr"
)

// ErrChanged reports that a memory has changed since it was loaded. Match it with errors.Is.
var ErrChanged = errors.New("changed since it was read")

// What a store lacks that a program gave.
var (
	ErrNoDocuments = errors.New("this store keeps no documents: use one that has loop.Documents")
	ErrNoLeases    = errors.New("this store has no leases: use one that has loop.Leases")
)

// An Error reports that ralph's own directory could not be used.
type Error struct {
	Path string // the file or directory, absolute; empty if there is no directory
	Op   string // the operation: "read", "write", "lock", "log", "clean", "approve", "list", "revoke", "remove", "reset"
	Err  error  // the cause
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("cannot %s: %s", e.Op, syserr.Reason(e.Err))
	}
	return fmt.Sprintf("cannot %s %s: %s", e.Op, syserr.Path(e.Path), syserr.Reason(e.Err))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// failed returns an [*Error], nil without a cause.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Path: path, Op: op, Err: err}
}
