package examples_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// A shipped policy is idle where it is not for the project: no rule is tried, and
// nothing is reported or written.
func TestShippedPoliciesAreIdle(t *testing.T) {
	policies, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil || len(policies) == 0 {
		t.Fatal(policies, err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	file := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(file, []byte(session(person("Build it."), agent("It is built."))), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range policies {
		policy, _, _ := strings.Cut(name, "/")
		if policy == "guards" {
			continue
		}
		t.Run(policy, func(t *testing.T) {
			p := newProject(t, policy, nil, files{"README.md": "A project.\n", ".claude/settings.json": "{}\n"})
			ev := event{"transcript_path": file}
			switch policy {
			case "double-shot-latte": // for every session but a judge's
				p.env["CLAUDE_HOOK_JUDGE_MODE"] = "true"
			case "todo-reminder":
				ev["hook_event_name"] = "UserPromptSubmit"
			}
			before := p.read()
			d := p.stop(ev)
			expect(t, d, "idle")
			if len(d.Verdict.Trace.Steps) > 0 {
				t.Errorf("it tried %v", d.Verdict.Trace.Steps)
			}
			if said := slices.Concat(d.Notices, d.Notes, d.Log); len(said) > 0 {
				t.Errorf("it says %q", said)
			}
			diff(t, before, p.read())
		})
	}
}

// The todos of a session are in their own directory, which the session file does not
// mention.
func TestTodoReminderIsForSessionsWithTodos(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	prompt := event{"hook_event_name": "UserPromptSubmit"}
	p := newProject(t, "todo-reminder", nil, nil)
	expect(t, p.stop(prompt), "idle")
	list := filepath.Join(home, ".claude", "tasks", "s1")
	if err := os.MkdirAll(list, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(list, "1.json"), []byte(`{"id": "1", "subject": "Write it", "status": "pending"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.stop(prompt)
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "Write it (pending)") {
		t.Errorf("of the folder it says %q", d.Notes)
	}
	prompt["session_id"] = "s2"
	expect(t, p.stop(prompt), "idle")
}

// What is at the path of a loop's file and cannot be read is reported: there is no loop, and
// the user sees why.
func TestOddFilesAreReported(t *testing.T) {
	for policy, file := range map[string]string{
		"speckit": speckitPointer, "specum": specumPointer, "stravinsky": loopFile, "ralph-wiggum": ".claude/ralph-loop.local.md",
	} {
		folder := filepath.Dir(filepath.FromSlash(file))
		for _, odd := range []struct {
			name   string
			make   func(p *project, outside string) error
			notice string
		}{
			{"a folder", func(p *project, _ string) error { return os.MkdirAll(filepath.Join(p.dir, file), 0o755) }, "is a directory"},
			{"a link out of the project", func(p *project, outside string) error {
				return os.Symlink(filepath.Join(outside, filepath.Base(file)), filepath.Join(p.dir, file))
			}, "leads outside the project"},
			{"a link to itself", func(p *project, _ string) error {
				return os.Symlink(filepath.Base(file), filepath.Join(p.dir, file))
			}, "a link in a cycle"},
			{"beneath a link out of the project", func(p *project, outside string) error {
				if err := os.Remove(filepath.Join(p.dir, folder)); err != nil {
					return err
				}
				return os.Symlink(outside, filepath.Join(p.dir, folder))
			}, "leads outside the project"},
		} {
			t.Run(policy+"/"+odd.name, func(t *testing.T) {
				t.Parallel()
				p := newProject(t, policy, nil, nil)
				if err := os.Mkdir(filepath.Join(p.dir, folder), 0o755); err != nil {
					t.Fatal(err)
				}
				outside := t.TempDir()
				if err := os.WriteFile(filepath.Join(outside, filepath.Base(file)), []byte("---\nactive: true\n---\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := odd.make(p, outside); err != nil {
					t.Skip(err)
				}
				d := p.stop(nil)
				if d.Verdict.Cause == "" || d.Verdict.Action == rules.Continue || !strings.Contains(strings.Join(d.Notices, "\n"), odd.notice) {
					t.Errorf("it says %q and reports %q, want a notice with %q", verdict(d), d.Notices, odd.notice)
				}
			})
		}
	}
}
