//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// group runs a program in its own process group, which is asked to end when the context is done, so that git removes its
// locks. kill ends what is left of it.
func group(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signal := func(s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }
	cmd.Cancel = func() error { return signal(syscall.SIGTERM) }
	return func() {
		if cmd.Process != nil {
			_ = signal(syscall.SIGKILL)
		}
	}
}
