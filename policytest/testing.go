package policytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
)

// Test runs the tests of all policies of a directory and its .ralph as subtests, and logs the rules that held in none. Without any
// test file it fails. opts are those of [Run].
func Test(t *testing.T, dir string, opts ...loop.Option) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
	more, _ := filepath.Glob(filepath.Join(dir, ".ralph", "*"+suffix))
	files = append(files, more...)
	if len(files) == 0 {
		t.Fatalf("%s has no file NAME%s", dir, suffix)
	}
	for _, file := range files {
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		policy := strings.TrimSuffix(filepath.ToSlash(rel), suffix) + ".yaml"
		t.Run(policy, func(t *testing.T) {
			report, err := Run(t.Context(), os.DirFS(dir), policy, nil, opts...)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range report.Results {
				t.Run(r.Name, func(t *testing.T) {
					for _, f := range r.Failures {
						t.Error(f)
					}
				})
			}
			if names := report.Untested(); len(names) > 0 {
				t.Logf("rules that held in no test: %s", strings.Join(names, ", "))
			}
		})
	}
}
