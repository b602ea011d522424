package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each message that the page of troubleshooting explains is one that the code has.
func TestExplainedMessages(t *testing.T) {
	var code strings.Builder
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "examples" || d.Name() == "next"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(name)
		code.Write(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(readDocument(t, "docs/troubleshooting.md").text, "\n## What a message means\n")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1)
	if len(rows) < 10 {
		t.Fatalf("the table has %d messages", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(code.String(), row[1]) {
			t.Errorf("no message has the text %q", row[1])
		}
	}
}
