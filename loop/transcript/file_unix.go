//go:build unix

package transcript

import "syscall"

const nonblock = syscall.O_NONBLOCK
