//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// In the settings of each host and scope, whatever form the file has, install adds a hook that status finds, and after uninstall every file
// is as it was. Settings that ralph cannot read, or does not edit, are never touched.
func TestInstallEveryHost(t *testing.T) {
	const plain = "{\n    \"version\": 1,   \"theme\": \"ärmel\"\n}\n"
	forms := map[string]struct {
		text string
		link string // what it is a link to; "" is the file itself
		torn bool
	}{
		"no file":                {},
		"a file":                 {text: plain},
		"one line":               {text: `{"version":1}`},
		"CRLF and a mark":        {text: "\ufeff" + strings.ReplaceAll(plain, "\n", "\r\n")},
		"a link":                 {text: plain, link: "dotfiles/settings.json"},
		"a link to a link":       {text: plain, link: "dotfiles/again"},
		"torn":                   {text: "{\"hooks\": {", torn: true},
		"two documents":          {text: "{}\n{}\n", torn: true},
		"empty":                  {text: "\n", torn: true},
		"binary":                 {text: "\x00\x01\xff", torn: true},
		"comments":               {text: "{\n  // mine\n  \"version\": 1, /* one */\n  \"list\": [1, 2,],\n}\n"},
		"comments, CRLF, a mark": {text: "\ufeff// mine\r\n{\r\n\t\"version\": 1,\r\n\t// last\r\n}\r\n"},
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
					put(t, base, path, f.text, f.link)
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

// put writes a file at a path, or a link to it.
func put(t *testing.T, base, path, text, link string) {
	t.Helper()
	if text == "" {
		return
	}
	target := path
	if link != "" {
		target = filepath.Join(base, link)
		if filepath.Base(link) == "again" {
			target = filepath.Join(base, "dotfiles", "settings.json")
		}
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(target)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(target, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	if link == "" {
		return
	}
	if filepath.Base(link) == "again" {
		if err := os.Symlink("settings.json", filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, link), path); err != nil {
		t.Fatal(err)
	}
}

// files returns what each file and link below a directory has, and its mode.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(path)
			all[path] = "link to " + to
			return err
		}
		text, err = os.ReadFile(path)
		all[path] = info.Mode().String() + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
