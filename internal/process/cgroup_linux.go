package process

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroup is a control group of version 2 for one program, below that of this process. What the program starts is born
// in it. The zero value is none.
type cgroup struct{ dir, path string } // its directory, and how /proc/PID/cgroup names it

// start starts a program in a new control group, or without one where that is not possible.
func start(cmd *exec.Cmd) (cgroup, error) {
	g := newCgroup()
	if dir, err := os.Open(g.dir); err == nil {
		defer dir.Close()
		again := *cmd
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
		if cmd.Start() == nil {
			return g, nil
		}
		*cmd = again // a command starts once
		cmd.SysProcAttr.UseCgroupFD = false
	}
	g.close()
	return cgroup{}, cmd.Start()
}

// newCgroup also removes the groups of processes of ours that were killed, once they are empty.
func newCgroup() cgroup {
	path := cgroupOf("self")
	mounts, _ := os.ReadFile("/proc/self/mountinfo") // see proc_pid_mountinfo(5)
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if !strings.Contains(line, " - cgroup2 ") || strings.Contains(f[3]+path, "/..") { // outside of the namespace
			continue
		}
		rel, err := filepath.Rel(f[3], path)
		dir, name := filepath.Join(f[4], rel), fmt.Sprintf("ralph-%d-%x", os.Getpid(), rand.Uint64())
		if err != nil || !filepath.IsLocal(rel) || os.Mkdir(filepath.Join(dir, name), 0o755) != nil {
			continue // another part of the tree, or one that cannot be written
		}
		others, _ := os.ReadDir(dir)
		for _, o := range others {
			pid := 0
			if _, err := fmt.Sscanf(o.Name(), "ralph-%d-", &pid); err == nil && pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH {
				_ = removeEmpty(filepath.Join(dir, o.Name()))
			}
		}
		return cgroup{filepath.Join(dir, name), filepath.Join(path, name)}
	}
	return cgroup{}
}

// cgroupOf returns the path of a process's control group, "" if unknown.
func cgroupOf(pid string) string {
	b, _ := os.ReadFile("/proc/" + pid + "/cgroup")
	_, path, _ := strings.Cut("\n"+string(b), "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	return path
}

func (g cgroup) has(pid int) bool {
	return g.dir != "" && strings.HasPrefix(cgroupOf(strconv.Itoa(pid))+"/", g.path+"/")
}

// kill kills the whole group at once, which no process can outrun.
func (g cgroup) kill() {
	if g.dir != "" {
		_ = os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0)
	}
}

// close ends and removes the group. One with a process that cannot be killed stays.
func (g cgroup) close() {
	for n := 0; g.dir != "" && n < 20 && removeEmpty(g.dir) == syscall.EBUSY; n++ {
		g.kill()
		time.Sleep(pause)
	}
}

// removeEmpty removes a group with those below it, as far as no process is in them.
func removeEmpty(dir string) error {
	below, _ := os.ReadDir(dir)
	for _, d := range below {
		if d.IsDir() {
			_ = removeEmpty(filepath.Join(dir, d.Name()))
		}
	}
	return syscall.Rmdir(dir)
}
