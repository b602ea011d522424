//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// surviveFullFiles lets a write beyond the size that the user allows files fail,
// where it would kill the process: the exit status stays ours. Programs that are
// started inherit this; their writes fail too.
func surviveFullFiles() { signal.Ignore(syscall.SIGXFSZ) }

// surviveClosedPipes lets a write to a host that closed its end of the pipe fail,
// where it would kill the process. Programs that are started would inherit this,
// and pipelines rely on being killed: call it when none will be started any more.
func surviveClosedPipes() { signal.Ignore(syscall.SIGPIPE) }
