package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/host"
)

// If several answer at once, such as the loop and the watchdog, only one of them does,
// and all return its status.
func TestAnswerOnce(t *testing.T) {
	for _, form := range []string{answerJSON, answerExitCode} {
		for range 50 {
			var stdout, stderr bytes.Buffer
			out := newAnswerer(&stdout, &stderr, form)
			const writers = 8
			statuses := make([]int, writers)
			var wg sync.WaitGroup
			for i := range writers {
				wg.Go(func() {
					out.speak(&host.Host{})
					statuses[i] = out.write(host.Reply{Continue: i%2 == 0, Reason: fmt.Sprint("because ", i), Notice: fmt.Sprint("notice ", i)})
				})
			}
			wg.Wait()
			text := stdout.String() + stderr.String()
			if n := strings.Count(text, "\n"); n != 1 {
				t.Fatalf("%s: %d answers: %q", form, n, text)
			}
			want := 0
			if form == answerExitCode && strings.HasPrefix(text, "because") {
				want = 2
			}
			for _, s := range statuses {
				if s != want {
					t.Fatalf("%s: statuses %v for %q", form, statuses, text)
				}
			}
		}
	}
}

// failing is a stream whose reader is gone.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("nobody is there") }

// An answer that cannot be written is reported. If the reason cannot be shown, the exit
// status alone does not hold the agent.
func TestAnswerCannotBeWritten(t *testing.T) {
	goOn := host.Reply{Continue: true, Reason: "on"}
	var stderr bytes.Buffer
	if status := newAnswerer(failing{}, &stderr, answerJSON).write(goOn); status != 0 || !strings.Contains(stderr.String(), "nobody is there") {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
	if status := newAnswerer(io.Discard, failing{}, answerExitCode).write(goOn); status != 0 {
		t.Errorf("status %d", status)
	}
}
