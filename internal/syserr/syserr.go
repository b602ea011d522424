// Package syserr words errors of the file system for people.
package syserr

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Reason says in a few words why the system refused something. It leaves out the
// paths that the errors of package os carry: they are absolute, and may name what
// lies outside the project.
func Reason(err error) string {
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
			return err.Error()
		}
	}
}

// Path is path, or its two ends if it is so long that it makes a message unreadable.
func Path(path string) string {
	const head, tail = 40, 30
	runes := []rune(path)
	if len(runes) <= head+tail+10 {
		return path
	}
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}
