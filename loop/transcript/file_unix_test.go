//go:build unix

package transcript_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-sdk/ralph/loop/transcript"
)

// A pipe that nobody writes to is refused, not waited for; so it is where it takes the place of a file while it is opened.
func TestReadPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	if _, err := transcript.Read(t.Context(), path, transcript.Options{}); !errors.Is(err, transcript.ErrNotRegular) {
		t.Errorf("error %v", err)
	}
	late := transcript.Options{Open: func(path string) (transcript.File, error) {
		return os.OpenFile(path, os.O_RDWR, 0)
	}}
	if _, err := transcript.Read(t.Context(), path, late); !errors.Is(err, transcript.ErrNotRegular) {
		t.Errorf("error %v behind the first look", err)
	}
}

func TestReadDevice(t *testing.T) {
	if _, err := transcript.Read(t.Context(), os.DevNull, transcript.Options{}); !errors.Is(err, transcript.ErrNotRegular) {
		t.Errorf("error %v", err)
	}
}

// A link to a session file is followed.
func TestReadLink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(file(t, user("go"), agent("a")), link); err != nil {
		t.Fatal(err)
	}
	if own := read(t, link, transcript.Options{}).Own(); len(own) != 1 {
		t.Errorf("%q", own)
	}
}
