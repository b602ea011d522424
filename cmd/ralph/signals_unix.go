//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// surviveFullFiles makes a write beyond the user's file size limit fail instead of killing the process, so that the
// exit status stays ours. Started programs inherit this.
func surviveFullFiles() { signal.Ignore(syscall.SIGXFSZ) }

// surviveClosedPipes makes a write to a closed pipe of the host fail instead of killing the process. Started programs
// would inherit this, and pipelines rely on being killed: call it when none will be started any more.
func surviveClosedPipes() { signal.Ignore(syscall.SIGPIPE) }
