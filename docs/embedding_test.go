package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The page names every option of a loop.
func TestOptionsAreDocumented(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "loop", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var options []string
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(.*\) Option \{`).FindAllSubmatch(src, -1) {
			options = append(options, string(m[1]))
		}
	}
	if len(options) < 10 {
		t.Fatalf("only %q were found", options)
	}
	lacks(t, "docs/embedding.md", options)
}
