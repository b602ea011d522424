package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// ErrChanged says that a file is no longer as it was read. Match it with
// errors.Is; the error itself is a [*ChangedError].
var ErrChanged = errors.New("changed since it was read")

// A PathError refuses a path before any file is touched.
type PathError struct {
	Path    string // as it was given
	Message string // what is wrong with it, and what is expected
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q: %s", shorten(e.Path), e.Message)
}

// A ChangedError names the file that is not as it was read. Nothing was
// written. errors.Is(err, ErrChanged) holds.
type ChangedError struct {
	Path string // relative to the root, or the key of a memory
}

func (e *ChangedError) Error() string { return shorten(e.Path) + ": " + ErrChanged.Error() }

// Is makes the error match [ErrChanged].
func (e *ChangedError) Is(target error) bool { return target == ErrChanged }

// An EditError says why a change cannot be made to a file without harming it.
// Nothing was written.
type EditError struct {
	Path    string // relative to the root; empty from [Edit], which knows no path
	Pointer string // JSON pointer of the value that was to be set; empty for the whole document
	Message string // what stands in the way and what to do
}

func (e *EditError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(shorten(e.Path))
		b.WriteString(": ")
	}
	if e.Pointer != "" {
		b.WriteString("cannot set ")
		b.WriteString(e.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	return b.String()
}

// A WriteError says that the system refused a change, such as in a read-only
// directory or on a full disk. The files are as they were, unless Partial.
type WriteError struct {
	Path    string // relative to the root
	Op      string // what was tried: "write", "delete", "archive", "prune"
	Partial bool   // an earlier change of the same Apply was made and could not be taken back
	Err     error  // the cause
}

func (e *WriteError) Error() string {
	s := fmt.Sprintf("cannot %s %s: %s", e.Op, shorten(e.Path), reason(e.Err))
	if e.Partial {
		s += "; earlier changes could not be taken back"
	}
	return s
}

// Unwrap gives the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// A StoreError says that ralph's own directory could not be used.
type StoreError struct {
	Path string // the file or directory, absolute; empty if there is no directory
	Op   string // what was tried: "read", "write", "lock", "log", "clean"
	Err  error  // the cause
}

func (e *StoreError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("cannot %s: %s", e.Op, reason(e.Err))
	}
	return fmt.Sprintf("cannot %s %s: %s", e.Op, shorten(e.Path), reason(e.Err))
}

// Unwrap gives the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// reason says in a few words why the system refused something. It leaves out
// the paths that the errors of package os carry: they are absolute, and may
// name what lies outside the project.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "no space left on the disk"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "the path is too long"
	case errors.Is(err, syscall.ELOOP):
		return "its links lead round in a circle"
	case errors.Is(err, fs.ErrClosed):
		return "the project was closed"
	}
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			if err.Error() == "path escapes from parent" { // os.Root has no name for it
				return errOutside.Error()
			}
			return err.Error()
		}
	}
}

// shorten keeps a message readable when a path is absurdly long.
func shorten(path string) string {
	const head, tail = 40, 30
	runes := []rune(path)
	if len(runes) <= head+tail+10 {
		return path
	}
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}
