package docs_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pictures of docs/graph.md are what its commands make.
func TestPictures(t *testing.T) {
	d := readDocument(t, "docs/graph.md")
	s := &session{t: t, dir: workspace(t, d), home: t.TempDir()}
	made := 0
	for _, b := range d.blocks {
		if b.file != "" {
			s.write(b.file, b.text)
		}
		_, picture, found := strings.Cut(strings.TrimSpace(b.text), " -o ")
		if b.lang != "console" || !found {
			continue
		}
		s.shell(strings.TrimPrefix(b.text, "$ "))
		got, err := os.ReadFile(filepath.Join(s.dir, picture))
		if err != nil {
			t.Fatal(err)
		}
		made++
		file := filepath.Join(root(t), "docs", picture)
		if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, got) {
			t.Errorf("docs/%s differs from what the command draws, or %v; make it with go test ./docs -run TestPictures -update", picture, err)
		}
	}
	if made != 2 {
		t.Errorf("%d pictures were made", made)
	}
}
