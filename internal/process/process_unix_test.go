//go:build unix

package process_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
)

func shell(script string) process.Command {
	return process.Command{Args: []string{"sh", "-c", script}, Env: os.Environ(), Mark: "RALPH_TEST_MARK=" + strconv.Itoa(os.Getpid()), Grace: 10 * time.Second}
}

// alive reports whether a process runs.
func alive(pid int) bool {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	stat := strings.TrimSpace(string(out))
	return stat != "" && !strings.HasPrefix(stat, "Z")
}

// pids are those that a script wrote, a line each.
func pids(t *testing.T, out string) []int {
	t.Helper()
	var all []int
	for _, f := range strings.Fields(out) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatalf("the program wrote %q", out)
		}
		all = append(all, n)
	}
	return all
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		script, stdout, stderr string
		want                   process.Exit
	}{
		{"echo out; echo err >&2", "out\n", "err\n", process.Exit{}},
		{"exit 7", "", "", process.Exit{Code: 7}},
		{"kill -9 $$", "", "", process.Exit{Code: -1, Signal: "killed"}},
		{"read x && echo $x || echo closed", "closed\n", "", process.Exit{}},
		{"echo $RALPH_TEST_MARK >&2", "", strconv.Itoa(os.Getpid()) + "\n", process.Exit{}},
	} {
		cmd := shell(c.script)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		got, err := cmd.Run(t.Context())
		if err != nil || got != c.want || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: %+v, %v, %q, %q, want %+v, %q, %q", c.script, got, err, &stdout, &stderr, c.want, c.stdout, c.stderr)
		}
	}
}

func TestNoProgram(t *testing.T) {
	for _, args := range [][]string{nil, {"no-such-program-of-ralph"}} {
		if _, err := (process.Command{Args: args, Mark: "M=1"}).Run(t.Context()); err == nil {
			t.Errorf("%q runs", args)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shell("exit 0").Run(ctx); err == nil {
		t.Error("it runs though its time is over")
	}
}

// branded waits, on Linux, for the brand, which a program gets just after its start.
const branded = `until test ! -e /proc/self/limits || grep -q "^Max file locks *[0-9]" /proc/self/limits; do :; done
`

// A program's descendants end with it, however they hide.
func TestLeftBehind(t *testing.T) {
	for _, c := range []struct {
		name, script string
		linux        bool // only Linux can find it
	}{
		{"a child", `sleep 300 & echo $!`, false},
		{"a child that ignores a request", `sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & read x <&3 || sleep 0.2`, false},
		{"a group of its own", `set -m; sleep 300 & echo $!`, false},
		{"a session of its own", `setsid sh -c 'echo $$ >pid; exec sleep 300' &`, true},
		{"a daemon", `(setsid sh -c 'sh -c "echo \$\$ >pid; exec sleep 300" &' &)`, true},
		{"a daemon without the mark", `(setsid env -u RALPH_TEST_MARK sh -c 'sh -c "echo \$\$ >pid; exec sleep 300" &' &)`, true},
		{"a daemon without an environment", `(setsid env -i sh -c 'setsid sh -c "echo \$\$ >pid; exec sleep 300" &' &)`, true},
		{"a daemon that lowers its brand", `(setsid env -i prlimit --locks=5 sh -c 'sh -c "echo \$\$ >pid; exec sleep 300" &' &)`, true},
		{"no environment", `env -i sh -c 'echo $$ >pid; exec sleep 300' &`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath("setsid"); c.linux && err != nil {
				t.Skip("setsid is not there")
			}
			cmd := shell(c.script)
			if strings.Contains(c.script, ">pid") {
				cmd = shell(branded + c.script + "\nuntil test -s pid; do sleep 0.01; done; cat pid")
			}
			cmd.Grace, cmd.Dir = 50*time.Millisecond, t.TempDir()
			var out bytes.Buffer
			cmd.Stdout = &out
			exit, err := cmd.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			left := pids(t, out.String())
			if len(left) == 0 || exit.Left < len(left) {
				t.Fatalf("it started %v, and %d were ended", left, exit.Left)
			}
			for _, pid := range left {
				if alive(pid) {
					t.Errorf("%d still runs", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// started waits until the program has written a line.
type started struct {
	once sync.Once
	c    chan struct{}
	buf  bytes.Buffer // no field of the type itself, which would be read into without Write
}

func (s *started) String() string { return s.buf.String() }

func (s *started) Write(b []byte) (int, error) {
	s.buf.Write(b)
	if bytes.HasSuffix(b, []byte("\n")) {
		s.once.Do(func() { close(s.c) })
	}
	return len(b), nil
}

func TestCancelled(t *testing.T) {
	for _, c := range []struct {
		name, script string
		grace        time.Duration
		want         process.Exit
	}{
		{"it ends when asked", `trap 'exit 5' TERM; echo $$; while :; do sleep 0.05; done`, 10 * time.Second, process.Exit{Code: 5}},
		{"it does not", `trap '' TERM; echo $$; while :; do sleep 0.05; done`, 100 * time.Millisecond, process.Exit{Code: -1, Signal: "killed"}},
		{"it is not asked", `trap 'exit 5' TERM; echo $$; while :; do sleep 0.05; done`, 0, process.Exit{Code: -1, Signal: "killed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := &started{c: make(chan struct{})}
			cmd := shell(c.script)
			cmd.Grace, cmd.Stdout = c.grace, out
			go func() {
				<-out.c
				cancel()
			}()
			got, err := cmd.Run(ctx)
			got.Left = 0 // the sleep may have ended by itself
			if err != nil || got != c.want {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
			for _, pid := range pids(t, out.String()) {
				if alive(pid) {
					t.Errorf("%d still runs", pid)
				}
			}
		})
	}
}

// A program that does not read its stdin holds up nothing, even where another process has it open.
func TestStdin(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 64<<10)
	for _, c := range []struct{ script, want string }{
		{"wc -c", strconv.Itoa(len(long))},
		{"head -c 15", "0123456789abcde"},
		{"exit 0", ""},
		{"sleep 300 & echo left", "left"}, // sh gives it another stdin
		{"exec 3<&0; sleep 300 <&3 3<&- & echo left", "left"},
	} {
		cmd := shell(c.script)
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Grace = strings.NewReader(long), &out, 50*time.Millisecond
		if exit, err := cmd.Run(t.Context()); err != nil || exit.Code != 0 || strings.TrimSpace(out.String()) != c.want {
			t.Errorf("%s: %+v, %v, %q, want %q", c.script, exit, err, &out, c.want)
		}
	}
}

// Two commands at once do not end each other's processes, nor those that the rest of the program started.
func TestSideBySide(t *testing.T) {
	bystander := exec.Command("sleep", "300")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer bystander.Wait()
	defer bystander.Process.Kill()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &started{c: make(chan struct{})}
	long := shell(`(sh -c : &); sleep 300 & echo $!; wait`) // the first one is soon a dead orphan, in the session of the command
	long.Mark, long.Stdout, long.Grace = "RALPH_TEST_MARK=long", out, 0
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := long.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	<-out.c
	// An orphan of the program's own, in a session of its own. This process adopts it.
	orphan := &started{c: make(chan struct{})}
	daemon := exec.Command("sh", "-c", `(setsid sh -c 'echo $$; exec sleep 300' 2>&- &)`)
	daemon.Stdout, daemon.WaitDelay = orphan, time.Millisecond
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	<-orphan.c
	_ = daemon.Wait() // the orphan holds the output open
	defer syscall.Kill(pids(t, orphan.String())[0], syscall.SIGKILL)
	for range 3 {
		if _, err := shell(`sleep 300 & setsid sleep 300 & exit`).Run(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if pid := pids(t, out.String())[0]; !alive(pid) {
		t.Error("the other command's process has ended")
	}
	cancel()
	wg.Wait()
	for _, pid := range append(pids(t, orphan.String()), bystander.Process.Pid) {
		if !alive(pid) {
			t.Errorf("%d, which the program itself started, has ended", pid)
		}
	}
}

// A program that writes without end does not block when its output is refused.
func TestOutputIsRefused(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	cmd := shell(`yes | head -c 1000000`)
	cmd.Stdout = w
	if exit, err := cmd.Run(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// The descendants of a killed process of ours are found by their mark.
func TestLeftovers(t *testing.T) {
	mark := "RALPH_TEST_MARK=leftover"
	cmd := exec.Command("sh", "-c", `sleep 300 >/dev/null & echo $!; exec >&-; wait`)
	cmd.Env = append(os.Environ(), mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(out)
	go cmd.Wait()
	process.Leftovers(process.Identify(cmd.Process.Pid), mark, time.Second)
	for _, pid := range append(pids(t, string(b)), cmd.Process.Pid) {
		if alive(pid) {
			t.Errorf("%d still runs", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if n := process.Leftovers(process.ID{Pid: 1}, mark, time.Second); n != 0 {
		t.Errorf("%d more", n)
	}
}
