//go:build unix && !linux

package process

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

func attributes(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func executable() (string, error) { return os.Executable() }

// adopt does nothing: orphans go to the first process of the system.
func adopt(bool) (before bool, err error) { return false, nil }

// nothing reports whether the tree is certainly empty: only the program's own group is known, and has no process. It
// saves reading the process table.
func (t *tree) nothing() bool {
	return len(t.groups) == 1 && syscall.Kill(-t.groups[0], 0) == syscall.ESRCH
}

// table runs ps, which every Unix has. Its sessions have too many forms to be used.
func table() []entry {
	out, err := exec.Command("ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart=").Output()
	if err != nil {
		return nil
	}
	var all []entry
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		var e entry
		ok := true
		for i, to := range []*int{&e.pid, &e.parent, &e.group} {
			n, err := strconv.Atoi(fields[i])
			*to, ok = n, ok && err == nil
		}
		e.dead, e.start = strings.HasPrefix(fields[3], "Z"), strings.Join(fields[4:], " ")
		if e.session = e.group; ok {
			all = append(all, e)
		}
	}
	return all
}

// marked returns false: not every system shows the environment of other processes.
func marked(int, string) bool { return false }

// There are no control groups.
type cgroup struct{}

func start(cmd *exec.Cmd) (cgroup, error) { return cgroup{}, cmd.Start() }
func (cgroup) has(int) bool               { return false }
func (cgroup) kill()                      {}
func (cgroup) close()                     {}

// There are no brands.
func brand(int) uint64                      { return 0 }
func branded(int, uint64) (has, other bool) { return false, false }

func identify(pid int) ID {
	for _, e := range table() {
		if e.pid == pid {
			return ID{Pid: pid, Start: e.start}
		}
	}
	return ID{Pid: pid}
}

// older returns false: ps prints only seconds, in a local format.
func older(string, string) bool { return false }
