package docs_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every promise names tests that exist, and every scene of attacks holds one of the promises.
func TestPromisesHaveTests(t *testing.T) {
	page := readDocument(t, "docs/security.md").text
	goTests := goTestFiles(t)
	scenes := filepath.Join(root(t), "internal/attack/testdata")
	named := map[string]bool{}
	_, page, _ = strings.Cut(page, "\n## What ralph promises\n")
	page, _, _ = strings.Cut(page, "\n## ")
	rows := regexp.MustCompile(`(?m)^\|(.*)\|(.*)\|$`).FindAllStringSubmatch(page, -1)
	if len(rows) < 10 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows[2:] { // below the head and its line
		shown := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1)
		if len(shown) == 0 {
			t.Errorf("no test holds: %s", strings.TrimSpace(row[1]))
		}
		for _, m := range shown {
			var err error
			if scene, ok := strings.CutPrefix(m[1], "TestAttacks/"); ok {
				files, _ := filepath.Glob(filepath.Join(scenes, scene+".txtar"))
				if len(files) == 0 {
					err = errors.New("there is no such scene: " + scene)
				}
				for _, file := range files {
					named[filepath.Base(file)] = true
				}
			} else {
				err = findTest(t, m[1], nil, goTests)
			}
			if err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(row[1]), err)
			}
		}
	}
	files, err := os.ReadDir(scenes)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !named[f.Name()] {
			t.Errorf("no promise of docs/security.md names the scene %s", f.Name())
		}
	}
}
