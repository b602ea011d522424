//go:build !unix

package loop

import "os/exec"

// alone does nothing where there are no process groups: the program itself is
// ended, its children are left to the system.
func alone(*exec.Cmd) {}
