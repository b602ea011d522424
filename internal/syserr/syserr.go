// Package syserr words file system errors for users. Start with [Reason].
package syserr

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Reason returns in a few words why the system reported an error. It omits the paths in errors of package os: they are
// absolute, and may be outside of the project.
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
		return "its links form a cycle"
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

// Path returns path, or its two ends if it is too long for a message.
func Path(path string) string {
	const head, tail = 40, 30
	runes := []rune(path)
	if len(runes) <= head+tail+10 {
		return path
	}
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}
