//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// surviveFullFiles makes a write beyond a limit on the size of files an error, instead of the end of the process.
func surviveFullFiles() { signal.Ignore(syscall.SIGXFSZ) }

// surviveClosedPipes does the same for a write to a host that has gone.
func surviveClosedPipes() { signal.Ignore(syscall.SIGPIPE) }
