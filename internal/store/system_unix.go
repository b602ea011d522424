//go:build unix

package store

import "syscall"

// openFilesGo says whether a file can be removed while it is open.
const openFilesGo = true

// openNonblocking keeps a named pipe in the place of a file from holding up the open.
const openNonblocking = syscall.O_NONBLOCK
