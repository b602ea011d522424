//go:build unix

package process_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-sdk/ralph/internal/process"
)

// With a guard, the group of a program ends when this process is killed.
func TestGuard(t *testing.T) {
	if fifo := os.Getenv("RALPH_TEST_FIFO"); fifo != "" {
		cmd := shell(t, `exec 9>"$RALPH_TEST_FIFO"; sleep 300 & sleep 300 & echo started >&9; wait`)
		cmd.Guard = true
		_, err := process.Run(t.Context(), cmd)
		t.Fatalf("it ended: %v", err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestGuard$")
	cmd.Env = append(os.Environ(), "RALPH_TEST_FIFO="+fifo)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := io.ReadAll(r); err != nil { // it ends when the last process has ended that can write
		t.Error(err)
	}
}
