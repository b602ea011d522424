//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// tree is a program with the process group that it leads.
type tree struct{ pid int }

func newTree(cmd *exec.Cmd) (*tree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return &tree{}, nil
}

func (t *tree) start(cmd *exec.Cmd) error {
	err := cmd.Start()
	if err == nil {
		t.pid = cmd.Process.Pid
	}
	return err
}

func (t *tree) kill() { _ = syscall.Kill(-t.pid, syscall.SIGKILL) }

// sweep kills what is left of the group. While it has a process, no other one gets its ID.
func (t *tree) sweep() { t.kill() }

func (t *tree) close() {}
