//go:build unix

package state

import "syscall"

// openNonblocking keeps a named pipe that took the place of a file since it
// was looked at from holding up the open.
const openNonblocking = syscall.O_NONBLOCK

// dirsNeedSync says whether a rename is durable only after the directory was
// synced too.
const dirsNeedSync = true
