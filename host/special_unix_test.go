//go:build unix

package host

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe without a writer is refused, not waited for. A link is followed.
func TestSpecialFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	if got := talk(t, &session{record: read[record], path: path}, 1); got != "" {
		t.Errorf("a pipe: %q", got)
	}
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(file(t, agent("a")), link); err != nil {
		t.Fatal(err)
	}
	if got := talk(t, &session{record: read[record], path: link}, 1); got != "assistant: a" {
		t.Errorf("behind a link: %q", got)
	}
}
