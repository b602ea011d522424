//go:build !unix

package child

import (
	"os/exec"
	"syscall"
)

// Group does nothing on systems without process groups: only the program itself is ended.
func Group(*exec.Cmd, syscall.Signal) (kill func()) { return func() {} }
