package docs_test

import (
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
		_, picture, found := strings.Cut(strings.TrimSpace(b.text), " --out ")
		if b.lang != "console" || !found {
			continue
		}
		s.shell(strings.TrimPrefix(b.text, "$ "))
		made++
		samePicture(t, "docs/"+picture, s.read(picture))
	}
	if made != 2 {
		t.Errorf("%d pictures were made", made)
	}
}
