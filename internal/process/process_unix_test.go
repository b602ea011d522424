//go:build unix

package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/process"
)

func shell(t *testing.T, script string) process.Command {
	t.Helper()
	sh, err := process.Find("sh", "")
	if err != nil {
		t.Fatal(err)
	}
	return process.Command{Path: sh, Args: []string{"-c", script}, Dir: t.TempDir()}
}

// alive reports whether a process runs.
func alive(pid int) bool {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	stat := strings.TrimSpace(string(out))
	return stat != "" && !strings.HasPrefix(stat, "Z")
}

// pids are those that a script wrote.
func pids(t *testing.T, out []byte) (all []int) {
	t.Helper()
	for _, f := range strings.Fields(string(out)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatalf("the program wrote %q", out)
		}
		all = append(all, n)
	}
	return all
}

func TestRun(t *testing.T) {
	t.Setenv("RALPH_TEST_OWN", "own")
	type result struct {
		Code                   int
		Stdout, Stderr, Output string
	}
	for _, c := range []struct {
		script string
		with   process.Command
		want   result
	}{
		{"echo out", process.Command{}, result{0, "out\n", "", "out\n"}},
		{"echo err >&2", process.Command{}, result{0, "", "err\n", "err\n"}},
		{"exit 7", process.Command{}, result{Code: 7}},
		{"kill -9 $$", process.Command{}, result{Code: 137}},
		{"cat; read x || printf ' and no more'", process.Command{Stdin: []byte("in")}, result{0, "in and no more", "", "in and no more"}},
		{"exec 3<&0; sleep 300 <&3 & printf left", process.Command{Stdin: make([]byte, 1<<20)}, result{0, "left", "", "left"}},
		{`printf "$RALPH_OFF $RALPH_TEST_OWN $A"`, process.Command{Env: []string{"RALPH_TEST_OWN", "A=a", "RALPH_OFF="}}, result{0, "1  a", "", "1  a"}},
		{"printf 0123456789; printf abcdefghij", process.Command{Limit: 6}, result{0, "012\n[14 bytes left out]\nhij", "", "012\n[14 bytes left out]\nhij"}},
	} {
		cmd := shell(t, c.script)
		cmd.Stdin, cmd.Env, cmd.Limit = c.with.Stdin, c.with.Env, c.with.Limit
		r, err := process.Run(t.Context(), cmd)
		got := result{r.Code, string(r.Stdout), string(r.Stderr), string(r.Output)}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", c.script, err, diff)
		}
	}
}

// A program that writes without end is kept in bounds, and does not block when the other reader refuses it.
func TestMuchOutput(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	cmd := shell(t, `yes | head -c 10000000`)
	cmd.Also = w
	res, err := process.Run(t.Context(), cmd)
	if err != nil || res.Code != 0 || len(res.Stdout) > 1<<20+100 {
		t.Errorf("status %d, %v, %d bytes", res.Code, err, len(res.Stdout))
	}
}

func TestNotStarted(t *testing.T) {
	if _, err := process.Run(t.Context(), process.Command{Path: "/no/such/program"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := process.Run(ctx, shell(t, "exit 0")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// What a program leaves behind ends with it, however it hides.
func TestLeftBehind(t *testing.T) {
	for _, c := range []struct {
		name, script string
		linux        bool // only Linux finds it
	}{
		{"a child", `sleep 300 & echo $!`, false},
		{"a child that ignores a request", `sh -c 'trap "" TERM INT HUP; echo $$ >pid; while :; do sleep 1; done' &`, false},
		{"no environment", `env -i sleep 300 & echo $!`, false},
		{"a group of its own", `set -m; sleep 300 & echo $!`, true},
		{"a session of its own", `setsid sh -c 'echo $$ >pid; exec sleep 300' &`, true},
		{"a daemon", `(setsid sh -c 'sh -c "echo \$\$ >pid; exec sleep 300" &' &)`, true},
		{"a daemon of a daemon", `(setsid env -i sh -c 'setsid sh -c "setsid sh -c \"echo \\\$\\\$ >pid; exec sleep 300\" &" &' &)`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.linux && runtime.GOOS != "linux" {
				t.Skip("only Linux finds it")
			}
			if strings.Contains(c.script, ">pid") {
				c.script += "\nuntil test -s pid; do sleep 0.01; done; cat pid"
			}
			res, err := process.Run(t.Context(), shell(t, c.script))
			left := pids(t, res.Stdout)
			if err != nil || len(left) != 1 {
				t.Fatalf("it started %v, %v", left, err)
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

// started waits until a program has written a line.
type started struct {
	once sync.Once
	c    chan struct{}
	buf  bytes.Buffer
}

func newStarted() *started { return &started{c: make(chan struct{})} }

func (s *started) Write(b []byte) (int, error) {
	s.buf.Write(b)
	if bytes.HasSuffix(b, []byte("\n")) {
		s.once.Do(func() { close(s.c) })
	}
	return len(b), nil
}

// What comes is copied as it comes: standard output to Stdout, both to Also.
func TestCopies(t *testing.T) {
	var stdout, both bytes.Buffer
	cmd := shell(t, `echo out; echo err >&2`)
	cmd.Stdout, cmd.Also = &stdout, &both
	if _, err := process.Run(t.Context(), cmd); err != nil || stdout.String() != "out\n" || len(both.String()) != len("out\nerr\n") {
		t.Errorf("%v: %q and %q", err, stdout.String(), both.String())
	}
}

// A program whose time is over ends with all that it started, and what it wrote is kept.
func TestCancelled(t *testing.T) {
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	out := newStarted()
	cmd := shell(t, `trap '' TERM INT; sleep 300 & echo $$ $!; wait; sleep 300`)
	cmd.Also = out
	go func() {
		<-out.c
		cancel(reason)
	}()
	res, err := process.Run(ctx, cmd)
	if !errors.Is(err, reason) || err.Error() != "sh was ended: enough" || res.Code != 137 {
		t.Errorf("status %d, %v", res.Code, err)
	}
	for _, pid := range pids(t, res.Output) {
		if alive(pid) {
			t.Errorf("%d still runs", pid)
		}
	}
}

// Two commands at once do not end each other's processes, nor those that this process had before.
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
	out := newStarted()
	long := shell(t, `(sh -c : &); sleep 300 & echo $!; wait`) // the first one is soon a dead orphan
	long.Also = out
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = process.Run(ctx, long) })
	<-out.c
	child := exec.Command("cat") // a program's own, in its session
	stdin, err := child.StdinPipe()
	if err != nil || child.Start() != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := process.Run(t.Context(), shell(t, `sleep 300 & setsid sleep 300 >/dev/null 2>&1 & exit`)); err != nil {
			t.Error(err)
		}
	}
	if pid := pids(t, out.buf.Bytes())[0]; !alive(pid) {
		t.Error("the other command's process has ended")
	}
	cancel()
	wg.Wait()
	if !alive(bystander.Process.Pid) {
		t.Error("a process that was there before has ended")
	}
	if stdin.Close(); child.Wait() != nil {
		t.Error("a child of this process has ended")
	}
}
