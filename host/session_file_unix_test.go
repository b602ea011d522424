//go:build unix

package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-sdk/ralph/host"
)

// A pipe without a writer is refused, not waited for, even if it replaces a file while that is opened.
func TestReadPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	if _, err := host.ReadSession(t.Context(), path, host.SessionOptions{}); !errors.Is(err, host.ErrNotRegular) {
		t.Errorf("error %v", err)
	}
	late := host.SessionOptions{Open: func(path string) (host.File, error) {
		return os.OpenFile(path, os.O_RDWR, 0)
	}}
	if _, err := host.ReadSession(t.Context(), path, late); !errors.Is(err, host.ErrNotRegular) {
		t.Errorf("error %v behind the first look", err)
	}
}

func TestReadDevice(t *testing.T) {
	if _, err := host.ReadSession(t.Context(), os.DevNull, host.SessionOptions{}); !errors.Is(err, host.ErrNotRegular) {
		t.Errorf("error %v", err)
	}
}

// A link to a session file is followed.
func TestReadLink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(file(t, user("go"), agent("a")), link); err != nil {
		t.Fatal(err)
	}
	if own := read(t, link, host.SessionOptions{}).Own(); len(own) != 1 {
		t.Errorf("%q", own)
	}
}
