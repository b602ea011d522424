//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Ctrl-C ends a run after the iteration, a second one now, as a request to end does; no process of the agent is left then. Each has status
// 130 and can be resumed.
func TestRunSignals(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []os.Signal
		goesOn  bool // the agent ends by itself
		want    string
	}{
		{"Ctrl-C", []os.Signal{os.Interrupt}, true, `\niteration 1 of 9: ok in .*\ninterrupted: it was interrupted after an iteration `},
		{"Ctrl-C twice", []os.Signal{os.Interrupt, os.Interrupt}, false, `\niteration 1 of 9: interrupted in .*\ninterrupted: the iteration was interrupted `},
		{"a request to end", []os.Signal{syscall.SIGTERM}, false, `\niteration 1 of 9: interrupted in .*\ninterrupted: the iteration was interrupted `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, fifo := range []string{"up", "go"} {
				if err := unix.Mkfifo(filepath.Join(dir, fifo), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("ralph", "run", "--promise", "DONE", "--max", "9", "--", "sh", "-c", "exec 9>up; echo up >&9; read -r _ <go")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "RALPH_STATE_DIR="+t.TempDir())
			var out bytes.Buffer
			cmd.Stdout = &out
			stderr, err := cmd.StderrPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			up, err := os.Open(filepath.Join(dir, "up")) // waits for the agent
			if err != nil {
				t.Fatal(err)
			}
			defer up.Close()
			agent, said := bufio.NewReader(up), bufio.NewReader(stderr)
			if _, err := agent.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			for i, s := range c.signals {
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				if i > 0 || s != os.Interrupt {
					continue
				}
				if line, err := said.ReadString('\n'); !strings.Contains(line, "Ctrl-C again ends it now") {
					t.Fatalf("it says %q, %v", line, err)
				}
			}
			if c.goesOn {
				if err := os.WriteFile(filepath.Join(dir, "go"), []byte("\n"), 0); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := io.Copy(io.Discard, agent); err != nil { // ends when the agent and all that it started have ended
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if status := cmd.ProcessState.ExitCode(); status != exitInterrupted || !regexp.MustCompile(c.want).Match(out.Bytes()) || !strings.Contains(out.String(), "\ngo on with: ralph run --resume ") {
				t.Errorf("status %d\n%s", status, out.String())
			}
		})
	}
}
