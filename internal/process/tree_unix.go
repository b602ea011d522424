//go:build unix

package process

import (
	"os"
	"syscall"
)

// exitCode returns the status by which a shell would name the end of a program.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
