//go:build unix

package state

import "syscall"

// openNonblocking keeps an open from blocking on a named pipe that replaced the file since it was checked.
const openNonblocking = syscall.O_NONBLOCK

// asDir after the path of a directory keeps the system from opening, and waiting for, a named pipe that replaced it.
const asDir = "/."

// dirsNeedSync says whether a rename is durable only after syncing the directory.
const dirsNeedSync = true
