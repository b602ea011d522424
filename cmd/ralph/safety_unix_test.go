//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
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

// A pipe in place of a file is not waited for.
func TestPipes(t *testing.T) {
	pipe := func(t *testing.T, h hook, name string) {
		t.Helper()
		path := filepath.Join(h.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no pipes here:", err)
		}
	}
	t.Run("state", func(t *testing.T) {
		h := newHook(t, nil, "--policy", "stravinsky")
		pipe(t, h, ".stravinsky/continuation-loop.md")
		h.run(t).letsGo(t, "is a named pipe", "")
	})
	t.Run("transcript", func(t *testing.T) {
		h := newHook(t, map[string]string{".stravinsky/continuation-loop.md": "---\ncompletion_promise: DONE\n---\n"}, "--policy", "stravinsky")
		pipe(t, h, "session.jsonl")
		h.stdin = strings.NewReader(h.event(map[string]any{"transcript_path": filepath.Join(h.dir, "session.jsonl")}))
		if r := h.run(t); r.status != 0 || r.answer(t).Decision != "block" {
			t.Errorf("status %d, stdout %q", r.status, r.stdout)
		}
	})
	t.Run("policy", func(t *testing.T) {
		h := newHook(t, nil)
		pipe(t, h, ".ralph/policy.yaml")
		h.run(t).letsGo(t, "unknown policy", "unknown policy")
	})
	t.Run("settings", func(t *testing.T) {
		h := newHook(t, goOn(""))
		pipe(t, h, ".ralph/config.yaml")
		h.run(t).letsGo(t, ".ralph/config.yaml cannot be used", ".ralph/config.yaml cannot be used")
	})
	t.Run("input", func(t *testing.T) {
		h := newHook(t, goOn(""), "--input", "event.json", "--deadline", "50ms")
		pipe(t, h, "event.json")
		h.run(t).letsGo(t, "no decision within 50ms", "no decision within 50ms")
	})
}
