//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// Group runs a program in its own process group, which receives a signal when the context of cmd is done. kill ends the
// rest of the group.
func Group(cmd *exec.Cmd, signal syscall.Signal) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, signal) }
	return func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}
