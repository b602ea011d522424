//go:build !unix && !windows

package process

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// tree exists on no system without processes, such as a browser.
type tree struct{}

func newTree(*exec.Cmd, string, bool) (*tree, error) {
	return nil, errors.New("this system starts no programs")
}

func (*tree) start(*exec.Cmd) error   { return errors.ErrUnsupported }
func (*tree) ask()                    {}
func (*tree) kill()                   {}
func (*tree) sweep(time.Duration) int { return 0 }
func (*tree) close()                  {}
func (*tree) id(pid int) ID           { return identify(pid) }

func exitOf(s *os.ProcessState) Exit { return Exit{Code: s.ExitCode()} }

func identify(pid int) ID { return ID{Pid: pid} }

// Leftovers returns 0: nothing was started.
func Leftovers(ID, string, time.Duration) int { return 0 }
