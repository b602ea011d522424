package policytest

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

// Run runs the tests of the policy called name in fsys, NAME_test.yaml next to NAME.yaml, as subtests of t: go test
// -run selects them by name, and failures are reported with file, line and column. cfg is that of the program that
// loads the policy.
//
//	func TestPolicy(t *testing.T) {
//		policytest.Run(t, os.DirFS("."), "policy.yaml", loop.Config())
//	}
func Run(t *testing.T, fsys fs.FS, name string, cfg rules.Config) {
	t.Helper()
	suite, diags := Load(t.Context(), fsys, strings.TrimSuffix(name, path.Ext(name))+Suffix, cfg)
	if suite == nil {
		t.Fatalf("the tests cannot be run:\n%s", diags.Format())
	}
	for _, test := range suite.file.Tests {
		t.Run(test.Name, func(t *testing.T) {
			t.Helper()
			for _, f := range suite.run(t.Context(), test).Failures {
				t.Errorf("\n%s", f)
			}
		})
	}
}
