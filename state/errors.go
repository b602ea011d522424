package state

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/ralph-sdk/ralph/internal/syserr"
)

// ErrChanged reports that a file has changed since it was read, and that nothing was written. Match it with errors.Is.
var ErrChanged = errors.New("changed since it was read")

func changed(path string) error { return fmt.Errorf("%s: %w", syserr.Path(path), ErrChanged) }

// A PathError reports an invalid path, before any file is touched.
type PathError struct {
	Path    string // as given
	Message string // what is wrong with it, and what is expected
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q: %s", syserr.Path(e.Path), e.Message)
}

// An EditError says why a change cannot be made to a file without harming it.
// Nothing was written.
type EditError struct {
	Path    string // relative to the root; empty from [Edit], which knows no path
	Pointer string // JSON pointer of the value that was to be set; empty for the whole document
	Message string // what prevents the change and what to do
}

func (e *EditError) Error() string {
	s := e.Message
	if e.Pointer != "" {
		s = "cannot set " + e.Pointer + ": " + s
	}
	if e.Path != "" {
		s = syserr.Path(e.Path) + ": " + s
	}
	return s
}

// A writeError says that the system refused a change, such as in a read-only
// directory or on a full disk. The files are as they were, unless partial.
type writeError struct {
	path    string // relative to the root
	op      string // the operation: "write", "delete", "archive", "prune"
	partial bool   // an earlier change of the same Apply was made and could not be undone
	err     error  // the cause
}

func (e *writeError) Error() string {
	s := fmt.Sprintf("cannot %s %s: %s", e.op, syserr.Path(e.path), reason(e.err))
	if e.partial {
		s += "; earlier changes could not be taken back"
	}
	return s
}

// Unwrap returns the cause.
func (e *writeError) Unwrap() error { return e.err }

// reason is [syserr.Reason] with words for errors of a [Root].
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
