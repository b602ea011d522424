package state

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A project is a directory with files for a test.
type project struct {
	*Root
	t *testing.T
}

func newProject(t *testing.T, files map[string]string) project {
	t.Helper()
	dir := t.TempDir()
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	p := project{root, t}
	for name, content := range files {
		p.write(name, content)
	}
	return p
}

func (p project) path(name string) string { return filepath.Join(p.Dir(), filepath.FromSlash(name)) }

// write writes a file that is an hour old, so that reading does not wait for its end.
func (p project) write(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.age(name, time.Hour)
}

func (p project) link(name, target string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Symlink(target, p.path(name)); err != nil {
		p.t.Skip("no links here:", err)
	}
}

func (p project) age(name string, age time.Duration) {
	p.t.Helper()
	at := time.Now().Add(-age)
	if err := os.Chtimes(p.path(name), at, at); err != nil {
		p.t.Fatal(err)
	}
}

// finish replaces a file at once: the bubble's clock is far from that of the file system, so a half written file is not
// young there.
func (p project) finish(name, content string) {
	err := os.WriteFile(p.path("new"), []byte(content), 0o644)
	if err == nil {
		err = os.Rename(p.path("new"), p.path(name))
	}
	if err != nil {
		p.t.Error(err)
	}
}

func (p project) content(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// files lists everything beneath the project but directories.
func (p project) files() []string {
	p.t.Helper()
	var names []string
	err := filepath.WalkDir(p.Dir(), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(p.Dir(), path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return names
}

func (p project) read(name string, format Format) Doc {
	return p.Read(context.Background(), File{Path: name, Format: format})
}

func (p project) version(name string) string { return p.read(name, Text).Version }

func (p project) apply(changes ...Change) error { return p.Apply(context.Background(), changes) }
