//go:build unix

package loop_test

import (
	"os"
	"syscall"
	"testing"
)

// pipe puts a named pipe at a path.
func pipe(_ *testing.T, path string) error {
	os.Remove(path)
	return syscall.Mkfifo(path, 0o600)
}
