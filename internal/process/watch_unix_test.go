//go:build unix

package process_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
)

// The tests are a program that can be its own watch, and the process that TestWatch kills or freezes.
func TestMain(m *testing.M) {
	process.Watch()
	script := os.Getenv("RALPH_TEST_WATCHED")
	if script == "" {
		os.Exit(m.Run())
	}
	cmd := shell(script)
	cmd.Watch, cmd.Grace, cmd.Mark, cmd.Stdout = 5*time.Second, 50*time.Millisecond, "RALPH_TEST_MARK=watched", os.Stdout
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGUSR1)
	defer stop()
	exit, err := cmd.Run(ctx)
	fmt.Println(exit.Late, err)
}

// A watched program has the same input, output, exit and environment.
func TestWatchedExit(t *testing.T) {
	for _, c := range []struct {
		script, stdin, stdout, stderr string
		want                          process.Exit
	}{
		{"cat; echo err >&2", "in", "in", "err\n", process.Exit{}},
		{"exit 7", strings.Repeat("x", 1<<20), "", "", process.Exit{Code: 7}},
		{"kill -9 $$", "", "", "", process.Exit{Code: -1, Signal: "killed"}},
		{"printf '%s %s' \"$RALPH_WATCH\" \"$ODD\"; ls /proc/self/fd/3 /proc/self/fd/4 2>/dev/null", "", " \xff", "", process.Exit{}},
		{"sleep 300 & sleep 300 &", "", "", "", process.Exit{Left: 2}},
	} {
		cmd := shell(strings.TrimSpace(c.script) + "\nexit $?")
		var stdout, stderr bytes.Buffer
		started := process.ID{}
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Grace, cmd.Watch = strings.NewReader(c.stdin), &stdout, &stderr, 50*time.Millisecond, time.Minute
		cmd.Env = append(cmd.Env, "ODD=\xff")
		cmd.Started = func(id process.ID) { started = id }
		got, err := cmd.Run(t.Context())
		if strings.HasPrefix(c.script, "printf") {
			got.Code = 0 // of ls, which finds neither
		}
		if err != nil || got != c.want || stdout.String() != c.stdout || stderr.String() != c.stderr || started.Pid == 0 {
			t.Errorf("%s: %+v, %v, %q, %q, %+v, want %+v, %q, %q", c.script, got, err, &stdout, &stderr, started, c.want, c.stdout, c.stderr)
		}
	}
	if _, err := (process.Command{Args: []string{"no-such-program-of-ralph"}, Watch: time.Minute}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no-such-program-of-ralph") {
		t.Errorf("the error of a missing program is %v", err)
	}
}

// A program ends with all that it started when this process is killed, frozen, or no longer wants it, and when the watch
// itself is killed or frozen.
func TestWatch(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(driver *os.Process, watch int) error
		says string
	}{
		{"killed", func(d *os.Process, _ int) error { return d.Kill() }, ""},
		{"interrupted with its group", func(d *os.Process, _ int) error { return d.Signal(syscall.SIGTERM) }, ""},
		{"frozen", func(d *os.Process, _ int) error { return d.Signal(syscall.SIGSTOP) }, "true <nil>\n"},
		{"the watch is killed", func(_ *os.Process, w int) error { return syscall.Kill(w, syscall.SIGKILL) }, "false <nil>\n"},
		{"it is no longer wanted", func(d *os.Process, _ int) error { return d.Signal(syscall.SIGUSR1) }, "false <nil>\n"},
		{"the watch is frozen, and it is no longer wanted", func(d *os.Process, w int) error {
			if err := syscall.Kill(w, syscall.SIGSTOP); err != nil {
				return err
			}
			return d.Signal(syscall.SIGUSR1)
		}, "false <nil>\n"},
		{"the watch gets signals", func(d *os.Process, w int) error {
			for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				if err := syscall.Kill(w, s); err != nil {
					return err
				}
			}
			return d.Kill()
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			held := filepath.Join(dir, "held")
			if err := syscall.Mkfifo(held, 0o600); err != nil {
				t.Fatal(err)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			driver := exec.Command(self)
			// Everything that the program starts holds the pipe open, so that its end is theirs.
			driver.Env = append(os.Environ(), "RALPH_TEST_WATCHED=exec 9>"+held+"; set -m; "+branded+" sh -c 'trap \"\" TERM; while :; do sleep 1; done' & (sleep 300 &); echo $PPID >&9; echo $$ >&9; wait")
			var out bytes.Buffer
			driver.Stdout = &out
			if err := driver.Start(); err != nil {
				t.Fatal(err)
			}
			pipe, err := os.Open(held)
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			var watch, program int
			if _, err := fmt.Fscan(pipe, &watch, &program); err != nil {
				t.Fatal(err)
			}
			if watch == driver.Process.Pid || !alive(watch) || !alive(program) {
				t.Fatalf("of %d the watch is %d and the program %d", driver.Process.Pid, watch, program)
			}
			if err := c.do(driver.Process, watch); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(pipe); err != nil {
				t.Fatal(err)
			}
			_ = driver.Process.Signal(syscall.SIGCONT)
			_ = driver.Wait()
			if out.String() != c.says {
				t.Errorf("it says %q, want %q", &out, c.says)
			}
		})
	}
}
