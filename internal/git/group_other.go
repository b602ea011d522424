//go:build !unix

package git

import "os/exec"

// group does nothing where there are no process groups: git itself is ended.
func group(*exec.Cmd) (kill func()) { return func() {} }
