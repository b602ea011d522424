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

// Without arguments, JSON on stdin makes ralph the hook; anything else, and silence, the help.
func TestBare(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ralph", "policy.yaml"), []byte("ralph: 1\nrules:\n  - name: on\n    continue: Go on.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	event := `{"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": false, "cwd": "` + filepath.ToSlash(dir) + `"}`
	for _, c := range []struct {
		name  string
		stdin io.Reader
		want  string
	}{
		{"a hook's input", strings.NewReader(event), `{"decision":"block","reason":"Go on."}`},
		{"behind a byte order mark", strings.NewReader("\ufeff" + event), `{"decision":"block","reason":"Go on."}`},
		{"an object that is cut off", strings.NewReader(event[:20]), `{"systemMessage":"[ralph] hook input: `},
		{"nothing", strings.NewReader(""), "ralph decides, each time"},
		{"a text", strings.NewReader("help me"), "ralph decides, each time"},
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

// Where an entry of the user's own settings can have started it, a policy of the project needs an approval.
func TestBareScope(t *testing.T) {
	const list = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ralph", "args": ["eval", "--scope", "user"]}]}]}}`
	const alone = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/usr/bin/ralph"}]}]}}`
	const line = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ralph eval --scope user"}]}]}}`
	for _, c := range []struct {
		name, own, project string // settings
		want               string
	}{
		{"no entry", "", "", scopeProject},
		{"the project's", "", list, scopeProject},
		{"the user's", list, "", scopeUser},
		{"the user's without arguments", alone, "", scopeUser},
		{"one of both", list, list, scopeUser},
		{"a line of the user, which no host cuts", line, list, scopeProject},
		{"another program of the user", strings.ReplaceAll(list, "ralph", "other"), list, scopeProject},
		{"what cannot be read", `{"hooks": `, list, scopeUser},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, dir, store := t.TempDir(), t.TempDir(), t.TempDir()
			for file, text := range map[string]string{
				filepath.Join(home, ".claude", "settings.json"): c.own, filepath.Join(dir, ".claude", "settings.json"): c.project,
				filepath.Join(dir, ".ralph", "policy.yaml"): "ralph: 1\nrules:\n  - name: on\n    continue: Go on.\n",
			} {
				if text == "" {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			a := &app{
				stdin:  strings.NewReader(`{"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": false, "cwd": "` + filepath.ToSlash(dir) + `"}`),
				stdout: &out, stderr: io.Discard,
				getenv: func(name string) string {
					return map[string]string{"RALPH_STATE_DIR": store, "HOME": home, "USERPROFILE": home}[name]
				},
			}
			a.run(t.Context(), nil)
			want := `{"decision":"block"`
			if c.want == scopeUser {
				want = `{"systemMessage":"[ralph] no policy decides here: the project has a file .ralph/policy.yaml, `
			}
			if !strings.HasPrefix(out.String(), want) {
				t.Errorf("got %s, want %s", out.String(), want)
			}
		})
	}
}
