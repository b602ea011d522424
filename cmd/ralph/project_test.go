package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bench is a project with a home and ralph's own directory, in which a test runs ralph.
type bench struct {
	t   *testing.T
	dir string // of the project
	own string // ralph's own directory
}

// newBench returns an empty project, and makes it the current directory.
func newBench(t *testing.T) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(dir, "project"), own: filepath.Join(dir, "own")}
	home := filepath.Join(dir, "home")
	for _, d := range []string{b.dir, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("RALPH_STATE_DIR", b.own)
	t.Chdir(b.dir)
	return b
}

// write writes a file of the project.
func (b *bench) write(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// ralph runs a command line.
func (b *bench) ralph(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := &app{stdin: strings.NewReader(stdin), stdout: &out, stderr: &err, getenv: os.Getenv, now: time.Now}
	status = a.run(b.t.Context(), args)
	return status, out.String(), err.String()
}
