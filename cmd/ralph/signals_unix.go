//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// reportWriteErrors makes a write to a host that has gone, or beyond a limit on the size of files, an error instead of the end of the process.
// The programs that it starts do not inherit that.
func reportWriteErrors() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ, syscall.SIGPIPE) }
