//go:build unix

package fatal_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	_ "github.com/ralph-sdk/ralph/internal/fatal"
)

// A program that crashes ends with a signal, not with status 2.
func TestCrash(t *testing.T) {
	if os.Getenv("RALPH_TEST_CRASH") != "" {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			panic("a crash")
		}()
		<-ended
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrash$")
	cmd.Env = append(os.Environ(), "RALPH_TEST_CRASH=1")
	err := cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("it ended with %v", err)
	}
}
