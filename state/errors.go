package state

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ralph-sdk/ralph/internal/syserr"
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
	return fmt.Sprintf("path %q: %s", syserr.Path(e.Path), e.Message)
}

// A ChangedError names the file that is not as it was read. Nothing was
// written. errors.Is(err, ErrChanged) holds.
type ChangedError struct {
	Path string // relative to the root
}

func (e *ChangedError) Error() string { return syserr.Path(e.Path) + ": " + ErrChanged.Error() }

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
		b.WriteString(syserr.Path(e.Path))
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
	s := fmt.Sprintf("cannot %s %s: %s", e.Op, syserr.Path(e.Path), reason(e.Err))
	if e.Partial {
		s += "; earlier changes could not be taken back"
	}
	return s
}

// Unwrap gives the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// reason is [syserr.Reason], with words for what only a [Root] can meet.
func reason(err error) string {
	if errors.Is(err, fs.ErrClosed) {
		return "the project was closed"
	}
	why := syserr.Reason(err)
	if why == "path escapes from parent" { // os.Root has no name for it
		return errOutside.Error()
	}
	return why
}
