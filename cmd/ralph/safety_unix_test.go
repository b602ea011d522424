//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"
)

// What cannot be recovered ends the process by a signal. A Go program would end with
// status 2, which hosts read as "block".
func TestFatalErrorsDieBySignal(t *testing.T) {
	for _, fact := range []string{"overflows: x", "panics_elsewhere: x"} {
		t.Run(fact, func(t *testing.T) {
			h := newHook(t, needing(fact))
			h.command = "bad-ralph"
			r := h.run(t)
			status, ok := r.state.Sys().(syscall.WaitStatus)
			if !ok || !status.Signaled() || r.status == 2 {
				t.Errorf("status %d, want a signal", r.status)
			}
			if r.stdout != "" || r.stderr == "" {
				t.Errorf("stdout %q, %d bytes of stderr", r.stdout, len(r.stderr))
			}
		})
	}
}

// A pipe as the input is left when the time is up.
func TestPipeAsInput(t *testing.T) {
	h := newHook(t, goOn(""), "--input", "event.json", "--deadline", "50ms")
	pipe(t, filepath.Join(h.dir, "event.json"))
	h.run(t).letsGo(t, "no decision within 50ms", "no decision within 50ms")
}
