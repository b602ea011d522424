package docs_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The picture in the README is the output of ralph graph for the policy there.
func TestReadmePicture(t *testing.T) {
	d := readDocument(t, "README.md")
	s := &session{t: t, dir: workspace(t, d), home: t.TempDir()}
	for _, b := range d.blocks {
		if b.file != "" {
			s.write(b.file, b.text)
		}
	}
	s.shell("ralph graph --out picture.svg")
	samePicture(t, "docs/pictures/checklist.svg", s.read("picture.svg"))
}

// samePicture compares a committed picture with the one that a command has drawn. With -update it writes it.
func samePicture(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(root(t), filepath.FromSlash(name))
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, []byte(got)) {
		t.Errorf("%s differs from what ralph graph draws, or %v; make it with go test ./docs -run Picture -update", name, err)
	}
}

// The start page has a link to every page beside it.
func TestStartPage(t *testing.T) {
	start := readDocument(t, "docs/README.md").text
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("only the pages %q were found, %v", pages, err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(start, "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}
