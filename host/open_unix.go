//go:build unix

package host

import "syscall"

const nonblock = syscall.O_NONBLOCK
