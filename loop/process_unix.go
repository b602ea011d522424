//go:build unix

package loop

import (
	"os/exec"
	"syscall"
)

// alone runs a program in a process group of its own, so that its children end
// with it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
