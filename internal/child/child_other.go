//go:build !unix

package child

import (
	"os/exec"
	"syscall"
)

// Group does nothing where there are no process groups: the program itself is ended, its children are left to the
// system.
func Group(*exec.Cmd, syscall.Signal) (kill func()) { return func() {} }
