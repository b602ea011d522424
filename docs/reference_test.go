package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every page of the reference is made by a test, and its index has a link to each.
func TestReferenceIndex(t *testing.T) {
	dir := filepath.Join(root(t), "docs", "reference")
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(pages) < 2 {
		t.Fatal("there are no pages", err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		if name == "README.md" {
			continue
		}
		if !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("the index has no link to %s", name)
		}
		src, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(src), "\n<!-- Made by Test") {
			t.Errorf("%s does not say which test makes it: a page that nothing makes does not belong here", name)
		}
	}
}
