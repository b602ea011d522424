//go:build unix

package store

import "syscall"

// openFilesGo says whether a file can be removed while it is open.
const openFilesGo = true

// openNonblocking keeps an open from blocking on a named pipe instead of a file.
const openNonblocking = syscall.O_NONBLOCK
