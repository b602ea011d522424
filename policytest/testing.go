package policytest

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
)

// Test runs the tests of all policies of a directory and its .ralph as subtests, and logs the rules that held in none. Without any
// test file it fails. opts are those of [Run].
func Test(t *testing.T, dir string, opts ...loop.Option) {
	t.Helper()
	fsys := os.DirFS(dir)
	files, _ := fs.Glob(fsys, "*"+suffix)
	more, _ := fs.Glob(fsys, ".ralph/*"+suffix)
	files = append(files, more...)
	if len(files) == 0 {
		t.Fatalf("%s has no file NAME%s", dir, suffix)
	}
	for _, file := range files {
		policy := strings.TrimSuffix(file, suffix) + ".yaml"
		t.Run(policy, func(t *testing.T) {
			report, err := Run(t.Context(), fsys, policy, nil, opts...)
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
