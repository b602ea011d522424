package run

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What agents print is appended to the file of the run, up to a bound; files of old runs go.
func TestOutput(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	for _, id := range []string{"old", "r1", "r1"} {
		w, err := OpenOutput(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		w.(*output).left = min(w.(*output).left, 5)
		for _, s := range []string{"one\n", "much more\n"} {
			if n, err := io.WriteString(w, s); n != len(s) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := os.Chtimes(filepath.Join(dir, "old.log"), time.Time{}, time.Now().Add(-oldFile-time.Hour)); err != nil && id == "old" {
			t.Error(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "r1.log")); string(b) != "one\none\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.log")); err == nil {
		t.Error("the old file is still there")
	}
}
