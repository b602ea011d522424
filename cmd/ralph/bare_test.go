package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Without arguments, JSON on stdin makes ralph a hook for all projects; anything else, and silence, the help.
func TestBare(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ralph", "policy.yaml"), []byte("ralph: 1\nrules:\n  - name: on\n    continue: Go on.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	event := `{"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": false, "cwd": "` + filepath.ToSlash(dir) + `"}`
	const unapproved = `{"systemMessage":"[ralph] .ralph/policy.yaml is not used, since it is not approved yet`
	for _, c := range []struct {
		name  string
		stdin io.Reader
		want  string
	}{
		{"a hook's input", strings.NewReader(event), unapproved},
		{"behind a byte order mark", strings.NewReader("\ufeff" + event), unapproved},
		{"an object that is cut off", strings.NewReader(event[:20]), `{"systemMessage":"[ralph] hook input: `},
		{"nothing", strings.NewReader(""), "Each time a coding agent"},
		{"a text", strings.NewReader("help me"), "Each time a coding agent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := t.TempDir()
			var out strings.Builder
			a := &app{stdin: c.stdin, stdout: &out, stderr: io.Discard, getenv: func(name string) string {
				return map[string]string{"RALPH_STATE_DIR": store}[name]
			}}
			if status := a.run(context.Background(), []string{}); status != exitOK || !strings.HasPrefix(out.String(), c.want) {
				t.Errorf("status %d, stdout\n%s", status, out.String())
			}
		})
	}
}

// A pipe without a writer is not waited for.
func TestBare_silent(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	late := make(chan time.Time)
	close(late)
	if in, ok := bareInput(r, late); in != nil || ok {
		t.Error(in, ok)
	}
}

// A terminal is not read: ralph immediately shows what to type instead.
func TestTerminalInput(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	if _, ok := terminalOf(terminal); !ok {
		t.Skip("this end of a terminal is none here")
	}
	file := filepath.Join(t.TempDir(), "policy_test.yaml")
	for line, want := range map[string]string{
		"":                     "Each time a coding agent",
		"eval":                 "run `ralph explain --now` for a decision now\"}\n",
		"eval --input -":       "run `ralph explain --now` for a decision now\"}\n",
		"test --write " + file: "a situation is required: write one as JSON to stdin",
	} {
		var out strings.Builder
		a := &app{stdin: terminal, stdout: &out, stderr: &out, getenv: func(string) string { return "" }}
		if a.run(t.Context(), strings.Fields(line)); !strings.Contains(out.String(), want) {
			t.Errorf("ralph %s\n%s", line, out.String())
		}
	}
}
