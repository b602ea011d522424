//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveFullFiles makes a write beyond a limit on the size of files an error, instead of the end of the process.
func surviveFullFiles() { signal.Ignore(syscall.SIGXFSZ) }

// surviveClosedPipes does the same for a write to a host that has gone.
func surviveClosedPipes() { signal.Ignore(syscall.SIGPIPE) }

// reportWriteErrors does both for a process that starts others: an ignored signal would be ignored in them too.
func reportWriteErrors() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ, syscall.SIGPIPE) }
