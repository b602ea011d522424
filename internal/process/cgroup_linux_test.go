package process_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-sdk/ralph/internal/process"
)

// cgroups returns the directory of this process's control group of version 2, where it can be written.
func cgroups(t *testing.T) string {
	t.Helper()
	mount, err := exec.Command("findmnt", "-nfo", "TARGET", "-t", "cgroup2").Output()
	own, _ := os.ReadFile("/proc/self/cgroup")
	_, path, found := strings.Cut("\n"+string(own), "\n0::")
	if err != nil || !found {
		t.Skip("there is no control group of version 2 or no findmnt")
	}
	path, _, _ = strings.Cut(path, "\n")
	dir := filepath.Join(strings.TrimSpace(string(mount)), path)
	probe := filepath.Join(dir, fmt.Sprintf("test-%d", os.Getpid()))
	if err := os.Mkdir(probe, 0o755); err != nil {
		t.Skip("no control group can be made:", err)
	}
	if err := syscall.Rmdir(probe); err != nil {
		t.Fatal(err)
	}
	return dir
}

// groupsOf returns the control groups that a process of ours has left.
func groupsOf(dir string, pid int) []string {
	all, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("ralph-%d-*", pid)))
	return all
}

// A control group finds what has lost everything else, and is removed with all in it.
func TestControlGroup(t *testing.T) {
	dir := cgroups(t)
	if os.Getenv("RALPH_TEST_UNBRANDED") == "" {
		self := exec.Command(os.Args[0], "-test.run=^TestControlGroup$")
		self.Env = append(os.Environ(), "RALPH_TEST_UNBRANDED=1")
		if out, err := self.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	// A process with so low a limit has no brand, as if the program were always faster.
	if err := unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 1, Max: 1}); err != nil {
		t.Fatal(err)
	}
	const daemon = `sh -c 'setsid sh -c "trap : TERM; echo \$\$ >new; mv new pid; while :; do sleep 300; done" &' &)`
	for _, c := range []struct{ name, script string }{
		{"in the first instant", `(setsid env -i ` + daemon},
		{"in a group below", `g=` + dir + `$(sed -n s/^0:://p /proc/self/cgroup)/below; mkdir $g && (echo 0 >$g/cgroup.procs; setsid env -i ` + daemon},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := shell(c.script + "\nuntil test -s pid; do sleep 0.01; done; cat pid")
			cmd.Grace, cmd.Dir = 50*time.Millisecond, t.TempDir()
			var out bytes.Buffer
			cmd.Stdout = &out
			exit, err := cmd.Run(t.Context())
			if err != nil || exit.Left == 0 {
				t.Errorf("%+v, %v", exit, err)
			}
			for _, pid := range pids(t, out.String()) {
				if alive(pid) {
					t.Errorf("%d still runs", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if left := groupsOf(dir, os.Getpid()); len(left) > 0 {
				t.Errorf("%v stay", left)
			}
		})
	}
}

// A killed process of ours leaves its group, which the next one removes once it is empty.
func TestControlGroupOfKilled(t *testing.T) {
	const mark = "RALPH_TEST_MARK=killed"
	if os.Getenv("RALPH_TEST_KILLED") != "" {
		cmd := shell(`sleep 300 >/dev/null 2>&1 & echo $$ $!; wait`)
		cmd.Mark, cmd.Stdout = mark, os.Stdout
		_, _ = cmd.Run(t.Context())
		return
	}
	dir := cgroups(t)
	self := exec.Command(os.Args[0], "-test.run=^TestControlGroupOfKilled$")
	self.Env = append(os.Environ(), "RALPH_TEST_KILLED=1")
	out, err := self.StdoutPipe()
	if err == nil {
		err = self.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var program, child int
	if _, err := fmt.Fscan(out, &program, &child); err != nil {
		t.Fatal(err)
	}
	_ = self.Process.Kill()
	_ = self.Wait()
	next := func(want int) {
		t.Helper()
		if _, err := shell("exit").Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := groupsOf(dir, self.Process.Pid); len(left) != want {
			t.Errorf("%v stay, want %d", left, want)
		}
	}
	if next(1); !alive(child) {
		t.Error("the next program has ended what it did not start")
	}
	if n := process.Leftovers(process.ID{}, mark, time.Second); n == 0 || alive(child) || alive(program) {
		t.Errorf("%d ended", n)
	}
	next(0)
}
