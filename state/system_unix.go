//go:build unix

package state

import "syscall"

// openNonblocking keeps a named pipe that took the place of a file since it
// was looked at from holding up the open.
const openNonblocking = syscall.O_NONBLOCK

// asDir behind the path of a folder keeps the system from opening, and waiting for, a
// named pipe that has the place of the folder.
const asDir = "/."

// dirsNeedSync says whether a rename is durable only after the directory was
// synced too.
const dirsNeedSync = true
