package state

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFiles(t *testing.T) {
	p := newProject(t, map[string]string{"a.yaml": "a", "sub/b.yaml": "b"})
	if err := fstest.TestFS(Files(p.Dir()), "a.yaml", "sub/b.yaml"); err != nil {
		t.Error(err)
	}
}

// A file that is too large for all who read it is not read.
func TestFilesSize(t *testing.T) {
	p := newProject(t, map[string]string{"most": "", "more": ""})
	for name, size := range map[string]int64{"most": MaxFileSize, "more": MaxFileSize + 1} {
		if err := os.Truncate(p.path(name), size); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := fs.ReadFile(Files(p.Dir()), "most"); err != nil || len(b) != MaxFileSize {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := fs.ReadFile(Files(p.Dir()), "more"); b != nil || err == nil || !strings.Contains(err.Error(), "it is larger than 8 MiB") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// A link leads to another place of the directory, or nowhere.
func TestFilesLinks(t *testing.T) {
	outside := newProject(t, map[string]string{"key": "secret", "dir/key": "secret"})
	p := newProject(t, map[string]string{"a": "a", "sub/b": "b"})
	p.link("inside", "sub/b")
	p.link("absolute", p.path("a"))
	p.link("sub/up", "../a")
	p.link("folder", "sub")
	p.link("out", outside.path("key"))
	p.link("climbing", "../../../../../../../../../../../../"+outside.path("key"))
	p.link("out-folder", outside.path("dir"))
	p.link("chain", "out")
	p.link("circle", "circle")
	p.link("dangling", "nothing")
	for name, want := range map[string]string{
		"inside": "b", "absolute": "a", "sub/up": "a", "folder/b": "b",
		"out": "a link leads outside the project", "climbing": "a link leads outside the project", "chain": "a link leads outside the project",
		"out-folder/key": "a link leads outside the project", "out-folder": "a link leads outside the project",
		"circle": "too many levels of symbolic links", "dangling": "no such file", "a/b": "file does not exist", "../a": "invalid argument",
	} {
		for _, how := range []string{"open", "stat"} {
			got := ""
			var err error
			if how == "open" {
				var b []byte
				b, err = fs.ReadFile(Files(p.Dir()), name)
				got = string(b)
			} else if _, err = fs.Stat(Files(p.Dir()), name); err == nil {
				continue
			}
			if err != nil {
				got = err.Error()
			}
			if got != want && !(err != nil && strings.Contains(got, want)) || strings.Contains(got, outside.Dir()) {
				t.Errorf("%s %s: %q, want %q", how, name, got, want)
			}
		}
	}
	// Its own path may hold links.
	home := newProject(t, nil)
	home.link("project", p.Dir())
	if b, err := fs.ReadFile(Files(home.path("project")), "absolute"); string(b) != "a" {
		t.Errorf("through a link: %q, %v", b, err)
	}
	if err := os.RemoveAll(p.Dir()); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(Files(p.Dir()), "a"); err == nil {
		t.Error("a directory that is gone has files")
	}
}
