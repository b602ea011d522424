//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// In the settings of each host and scope, whatever form the file has, install adds a hook that status finds, and after uninstall every file
// is as it was. Settings that ralph cannot read, or does not edit, are never touched. More forms are those of package host.
func TestInstallEveryHost(t *testing.T) {
	forms := map[string]struct {
		text         string
		linked, torn bool
	}{
		"no file":     {},
		"a file":      {text: "\ufeff{\r\n    \"version\": 1,   \"theme\": \"ärmel\"\r\n}\r\n"},
		"links to it": {text: "{\n  \"version\": 1\n}\n", linked: true},
		"torn":        {text: "{\"hooks\": {", torn: true},
		"empty":       {text: "\n", torn: true},
		"comments":    {text: "{\n  // mine\n  \"version\": 1, /* one */\n  \"list\": [1, 2,],\n}\n"},
	}
	for _, name := range host.Names() {
		h, err := host.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for scope, file := range map[string]string{"project": h.Settings.Project, "local": h.Settings.Local, "user": h.Settings.User} {
			for form, f := range forms {
				if file == "" || h.Settings.TOML && f.torn {
					continue
				}
				t.Run(strings.Join([]string{name, scope, form}, "/"), func(t *testing.T) {
					b := newBench(t)
					b.write(".ralph/policy.yaml", "ralph: 1\nevents: [Stop, SubagentStop]\nrules: [{name: hint, note: Keep it green.}, {name: go, continue: Go on.}]\n")
					if status, _, stderr := b.ralph("", "trust", "--yes", "policy"); status != 0 {
						t.Fatal(stderr)
					}
					base, path := b.dir, filepath.Join(b.dir, file)
					if scope == "user" {
						base, path = filepath.Join(filepath.Dir(b.dir), "home"), h.UserFile(os.Getenv)
					}
					b.put(base, path, f.text, f.linked)
					before := files(t, filepath.Dir(b.dir))
					refused := f.torn || strings.Contains(f.text, "//") && !readsComments(name) && !h.Settings.TOML
					status, _, stderr := b.ralph("", "install", name, "--scope", scope)
					if refused != (status != 0) {
						t.Fatalf("install: status %d: %s", status, stderr)
					}
					_, out, _ := b.ralph("", "status")
					if found := strings.Contains(out, "policy: ready\n  hook   "+name+", "+path); found != (!refused && !h.Settings.TOML) {
						t.Errorf("status:\n%s", out)
					}
					if status, _, stderr := b.ralph("", "uninstall", name); (refused || h.Settings.TOML) != (status != 0) {
						t.Errorf("uninstall: status %d: %s", status, stderr)
					}
					if diff := cmp.Diff(before, files(t, filepath.Dir(b.dir))); diff != "" {
						t.Errorf("(-before +after):\n%s", diff)
					}
				})
			}
		}
	}
}

// readsComments reports whether a host reads comments in its settings. Claude Code, for one, runs no hook of a file with a comment.
func readsComments(name string) bool { return name == "gemini" || name == "qwen" }

// put writes a file at a path, or to where links from there lead.
func (b *bench) put(base, path, text string, linked bool) {
	b.t.Helper()
	if text == "" {
		return
	}
	target, again := path, filepath.Join(base, "dotfiles", "again")
	if linked {
		target = filepath.Join(base, "dotfiles", "settings.json")
		err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink("settings.json", again), os.Symlink(again, path))
		if err != nil {
			b.t.Fatal(err)
		}
	}
	name, err := filepath.Rel(b.dir, target)
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(name, text)
}

// files returns what each file and link below a directory has, and its mode.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		to, _ := os.Readlink(path)
		info, err2 := d.Info()
		all[path] = fmt.Sprintf("%v %s %s", info.Mode(), to, text)
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
