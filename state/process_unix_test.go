//go:build unix

package state

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A named pipe or a socket in place of a file is not waited for.
func TestReadSpecialFiles(t *testing.T) {
	p := newProject(t, nil)
	if err := syscall.Mkfifo(p.path("pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	p.link("to-pipe", "pipe")
	for _, path := range []string{"pipe", "to-pipe"} {
		doc := p.Read(t.Context(), File{Path: path, Timeout: time.Hour})
		if doc.Status != Missing || doc.Quiet || doc.Problem != "is a named pipe, not a file" {
			t.Errorf("%s: %+v", path, doc)
		}
	}
	if !p.Exists("pipe") {
		t.Error("the pipe does not exist")
	}
	if p.AnyFile("pipe/*") || p.AnyFile("pipe/**/*") || !p.AnyFile("pi*") {
		t.Error("the pipe is no file, or has files in it")
	}

	// Paths of sockets must be short.
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if doc := root.Read(t.Context(), File{Path: "s"}); doc.Problem != "is a socket, not a file" {
		t.Errorf("socket: %+v", doc)
	}
}

// fillDisk edits a file while no file may grow beyond what it has.
func fillDisk(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	root, err := OpenRoot(dir)
	if err != nil {
		return err
	}
	doc := root.Read(context.Background(), File{Path: "state.json", Format: JSON})
	limit := syscall.Rlimit{Cur: 8, Max: 8}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	err = root.Apply(context.Background(), []Change{
		{Path: "other.txt", Op: OpDelete, Version: root.Read(context.Background(), File{Path: "other.txt"}).Version},
		{Path: "state.json", Format: JSON, Version: doc.Version, Sets: []Set{set("long text", "n")}},
	})
	var refused *writeError
	if !errors.As(err, &refused) || refused.partial || refused.path != "state.json" || !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("Apply: %v", err)
	}
	return nil
}

// A disk that takes no more bytes leaves everything as it was.
func TestProcessFullDisk(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`, "other.txt": "x"})
	if out, err := child("fill the disk", p.Dir()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := p.content("state.json"); got != `{"n": 1}` {
		t.Errorf("got %q", got)
	}
	if files := fmt.Sprint(p.files()); files != "[other.txt state.json]" {
		t.Errorf("files: %v", files)
	}
}

// A pipe instead of a directory is not opened, since that would wait for a writer.
func TestPipeForFolder(t *testing.T) {
	p := newProject(t, map[string]string{"sub/a": "x"})
	if err := syscall.Mkfifo(p.path("pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	p.SetHome(p.path("pipe"))
	p.link("link", "pipe")
	if root, err := OpenRoot(p.path("pipe")); err == nil {
		root.Close()
		t.Error("a pipe is a project")
	}
	if doc := p.Read(t.Context(), File{Path: "~/a"}); doc.Status != Missing {
		t.Errorf("beneath a home that is a pipe: %+v", doc)
	}
	for _, pattern := range []string{"pipe/*", "*/a", "**/a", "link/*", "{pipe,sub}/*", "~/*"} {
		if _, _, err := ReadAll(t.Context(), p.Root, File{Path: pattern}, 0, func(d Doc) Doc { return d }); err != nil && pattern != "~/*" {
			t.Errorf("%s: %v", pattern, err)
		}
		p.AnyFile(pattern)
		p.Prune(t.Context(), pattern, time.Hour, time.Now())
	}
	if doc := p.Read(t.Context(), File{Path: "pipe/a"}); doc.Status != Missing { // it replaced a directory during the walk
		t.Errorf("beneath a pipe: %+v", doc)
	}
	if err := p.Write(t.Context(), "pipe/a", nil, ""); err == nil {
		t.Error("a file was written into a pipe")
	}
	for _, name := range []string{"pipe", "link"} {
		if _, err := Files(p.Dir()).Open(name); !errors.Is(err, errNotAFile) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := Files(p.path("pipe")).Open("a"); err == nil {
		t.Error("a pipe has files")
	}
	if _, err := Files("/dev").Open("null"); !errors.Is(err, errNotAFile) {
		t.Errorf("a device: error %v", err)
	}
}
