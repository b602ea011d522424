package state

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/syserr"
)

func TestLocate(t *testing.T) {
	p := newProject(t, nil)
	tests := []struct {
		path  string
		shown string // what people see
		err   string // or a part of the error
	}{
		{path: "a.json", shown: "a.json"},
		{path: "./a//b/./c.md", shown: "a/b/c.md"},
		{path: "a/", shown: "a"},
		{path: ".", shown: "."},
		{path: "..a/b..", shown: "..a/b.."},
		{path: " a ", shown: " a "},
		{path: "~/x/y", shown: "~/x/y"},
		{path: "~//x", shown: "~/x"},
		{path: "~", shown: "~"},
		{path: "~x", shown: "~x"},
		{path: filepath.Join(p.Dir(), "a", "b"), shown: "a/b"},
		{path: p.Dir(), shown: "."},

		{path: "", err: "is empty"},
		{path: "..", err: `contains ".."`},
		{path: "a/../b", err: `contains ".."`},
		{path: "~/../x", err: `contains ".."`},
		{path: "a\x00b", err: "contains a NUL byte"},
		{path: filepath.Dir(p.Dir()), err: "is outside the project"},
		{path: p.Dir() + "x", err: "is outside the project"},
		{path: "/etc/passwd", err: "is outside the project"},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			loc, err := p.locate(test.path)
			if test.err == "" {
				if err != nil || loc.shown != test.shown {
					t.Errorf("locate(%q) = %q, %v; want %q", test.path, loc.shown, err, test.shown)
				}
				return
			}
			var refused *PathError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.err) {
				t.Errorf("locate(%q) = %v; want a PathError with %q", test.path, err, test.err)
			}
		})
	}
}

// A project may be opened through a link, and files named through that link.
func TestOpenRootThroughLink(t *testing.T) {
	p := newProject(t, map[string]string{"real/a.txt": "hello"})
	p.link("link", "real")
	root, err := OpenRoot(p.path("link"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if root.Dir() != p.path("real") {
		t.Errorf("Dir() = %q, want %q", root.Dir(), p.path("real"))
	}
	for _, path := range []string{"a.txt", p.path("link/a.txt"), p.path("real/a.txt")} {
		if doc := root.Read(t.Context(), File{Path: path}); doc.Text != "hello" || doc.Path != "a.txt" {
			t.Errorf("Read(%q) = %q at %q", path, doc.Text, doc.Path)
		}
	}
}

func TestOpenRootRefuses(t *testing.T) {
	p := newProject(t, map[string]string{"file": "x"})
	for _, dir := range []string{"", p.path("absent"), p.path("file")} {
		root, err := OpenRoot(dir)
		var refused *PathError
		if !errors.As(err, &refused) {
			t.Errorf("OpenRoot(%q) = %v, %v; want a PathError", dir, root, err)
		}
	}
}

func TestExists(t *testing.T) {
	outside := t.TempDir()
	p := newProject(t, map[string]string{"dir/file": "x"})
	p.link("to-file", "dir/file")
	p.link("to-dir", p.path("dir"))
	p.link("dangling", "nowhere")
	p.link("circle", "circle")
	p.link("out", outside)

	tests := []struct {
		path          string
		exists, isDir bool
	}{
		{"dir", true, true},
		{"dir/file", true, false},
		{".", true, true},
		{"to-file", true, false},
		{"to-dir", true, true},
		{"to-dir/file", true, false},
		{"dir/file/below", false, false},
		{"absent", false, false},
		{"dangling", false, false},
		{"circle", false, false},
		{"out", false, false},
		{"../" + filepath.Base(p.Dir()), false, false},
		{"", false, false},
		{strings.Repeat("x", 20_000), false, false},
	}
	for _, test := range tests {
		if got := p.Exists(test.path); got != test.exists {
			t.Errorf("Exists(%q) = %v", syserr.Path(test.path), got)
		}
		if got := p.IsDir(test.path); got != test.isDir {
			t.Errorf("IsDir(%q) = %v", syserr.Path(test.path), got)
		}
	}
}

// All paths of one file have one target, so that it is locked once.
func TestTarget(t *testing.T) {
	p := newProject(t, map[string]string{"real/a.json": "{}"})
	p.link("link", "real")
	p.link("b.json", "real/a.json")
	tests := []struct{ path, want string }{
		{"real/a.json", "real/a.json"},
		{"link/a.json", "real/a.json"},
		{"b.json", "real/a.json"},
		{"link/absent.json", "real/absent.json"},
		{"absent/x.json", "absent/x.json"},
	}
	for _, test := range tests {
		if got, err := p.Target(test.path); got != p.path(test.want) {
			t.Errorf("Target(%q) = %q, %v; want %q", test.path, got, err, p.path(test.want))
		}
	}
	p.link("out", t.TempDir())
	for _, path := range []string{"..", "out"} {
		if got, err := p.Target(path); err == nil {
			t.Errorf("Target(%q) = %q; want an error", path, got)
		}
	}
}

// SetHome replaces the user's home directory with another one.
func TestSetHome(t *testing.T) {
	p := newProject(t, nil)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "note"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.SetHome(home)
	names, _, err := ReadAll(t.Context(), p.Root, File{Path: "~/n*"}, 0, func(d Doc) string { return d.Path })
	if doc := p.read("~/note", Text); doc.Text != "mine" || !p.Exists("~/note") || !p.AnyFile("~/n*") || err != nil || !slices.Equal(names, []string{"~/note"}) {
		t.Errorf("read %q, names %q, %v", doc.Text, names, err)
	}
	p.SetHome(filepath.Join(home, "gone"))
	if doc := p.read("~/note", Text); doc.Status != Missing || p.Exists("~/note") || p.AnyFile("~/n*") {
		t.Errorf("read %q", doc.Text)
	}
}

// The home directory can be read where the text of a path has it, and nothing in it is
// ever changed.
func TestHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if runtime.GOOS == "windows" {
		t.Setenv("USERPROFILE", home)
	}
	if err := os.WriteFile(filepath.Join(home, "note"), []byte("from home"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProject(t, map[string]string{"outside.txt": "x"})

	doc := p.read("~/note", Text)
	if doc.Text != "from home" || doc.Path != "~/note" {
		t.Errorf("read %q at %q", doc.Text, doc.Path)
	}
	if !p.Exists("~/note") || p.Exists("~/absent") || !p.IsDir("~") {
		t.Error("Exists or IsDir do not see the home directory")
	}
	for _, op := range []Op{OpSet, OpDelete, OpArchive} {
		err := p.apply(Change{Path: "~/note", Op: op, Version: doc.Version})
		if !errors.As(err, new(*PathError)) {
			t.Errorf("Apply(%d) = %v; want a PathError", op, err)
		}
	}

	if err := os.Symlink(p.path("outside.txt"), filepath.Join(home, "out")); err != nil {
		t.Skip(err)
	}
	if doc := p.read("~/out", Text); doc.Status != Missing || doc.Quiet || doc.Problem != "is a link that leads outside the home directory" {
		t.Errorf("a link out of the home directory: %+v", doc)
	}
}
