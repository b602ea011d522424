package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Under a limit of processes neither a shell nor Go can start what it needs. The
// line never ends with 2, whatever the limit.
func TestInstalledLineUnderProcessLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	if os.Getuid() != 0 {
		t.Skip("needs a user that runs nothing else")
	}
	h, program := bareHook(t, goOn(""))
	line := installedLine(t, h, program, "{}")
	ends := func(n int, argv ...string) result {
		t.Helper()
		limited := h.by(append([]string{"bash", "-c", `ulimit -u "$0" && exec "$@"`, strconv.Itoa(n)}, argv...)...)
		start := limited.prepare
		limited.prepare = func(cmd *exec.Cmd) {
			start(cmd)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		}
		return limited.run(t)
	}
	if r := ends(100, "sh", "-c", line); r.status != 0 || r.answer(t).Decision != "block" {
		t.Skipf("another user cannot run the test here: status %d, stderr %q", r.status, r.stderr)
	}
	unguarded := map[int]bool{}
	for n := 1; n < 10; n++ {
		unguarded[ends(n, program, "eval").status] = true
		unguarded[ends(n, "sh", "-c", "ralph eval; true").status] = true
		for _, shell := range [][]string{{"sh", "-c"}, {"busybox", "ash", "-c"}, {"zsh", "-c"}} { // bash waits for seconds
			if _, err := exec.LookPath(shell[0]); err != nil {
				continue
			}
			if r := ends(n, append(shell, line)...); r.status == 2 {
				t.Errorf("%d processes, %q: status %d, stderr %q", n, shell, r.status, r.stderr)
			}
		}
	}
	if !unguarded[2] {
		t.Errorf("without the guard: %v, want 2 among them", unguarded)
	}
}

// Go answers some signals with a trace of the stack and status 2. Sent while the packages
// are initialised, they end ralph by a signal.
func TestSignalsBeforeMain(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			h := newHook(t, goOn(""))
			h.env = []string{"GODEBUG=inittrace=1"}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := h.cmd()
			cmd.Stderr = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			trace := bufio.NewReaderSize(r, 16)
			for {
				line, err := trace.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(line, "init errors ") {
					break
				}
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			var rest bytes.Buffer
			if _, err := io.Copy(&rest, trace); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if cmd.ProcessState.ExitCode() == 2 {
				t.Errorf("status 2\n%.300s", rest.String())
			}
		})
	}
}

// Whatever signal reaches the processes of the line at its start, and whenever, it does not end with 2.
func TestInstalledLineAndSignals(t *testing.T) {
	h, program := bareHook(t, goOn(""))
	line := installedLine(t, h, program, "{}")
	for i := range 60 {
		sig := []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV}[i%3]
		cmd := h.by("sh", "-c", line).cmd()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range i * 20 { // a later moment each time
			syscall.Getppid()
		}
		if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if cmd.ProcessState.ExitCode() == 2 {
			t.Errorf("%v ends it with status 2", sig)
		}
	}
}
