//go:build unix

package main

import (
	"os"
	"syscall"
)

// deadly lists the signals that a failing write brings along: to a closed pipe, and
// to a file beyond the size that the person may use.
func deadly() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ} }
