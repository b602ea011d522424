package policytest_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
)

// Every policy that ships has tests beside it. They pass, every rule holds in one
// of them, and every operand is seen true and seen false.
func TestShippedPolicies(t *testing.T) {
	shipped := os.DirFS("../examples")
	policies, err := fs.Glob(shipped, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, name := range policies {
		if strings.HasSuffix(name, policytest.Suffix) || strings.HasPrefix(name, "guards/") || strings.HasPrefix(name, "embed/") {
			continue
		}
		tested++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := strings.TrimSuffix(name, ".yaml") + policytest.Suffix
			passes(t, shipped, file)
		})
	}
	if tested < 3 {
		t.Errorf("only %d policies were found", tested)
	}
}

// Guards are tested in small policies that include them, one each.
func TestGuards(t *testing.T) {
	guards, err := fs.Glob(examples.FS, "guards/*.yaml")
	if err != nil || len(guards) == 0 {
		t.Fatal(guards, err)
	}
	hosts := os.DirFS("testdata/guards")
	for _, file := range guards {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "guards/"), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, hosts, name+policytest.Suffix)
		})
	}
}

// passes runs the tests of a policy: all pass, every rule holds in one of them,
// and every operand is seen true and seen false. Guards have such tests of their own; tasks.yaml is tested in specum, which
// sets all its params.
func passes(t *testing.T, fsys fs.FS, file string) {
	suite, findings := policytest.Load(t.Context(), fsys, file, loop.Config())
	if suite == nil {
		t.Fatal(findings.Format())
	}
	results := suite.Run(t.Context(), nil)
	for _, r := range results {
		for _, f := range r.Failures {
			t.Errorf("%s: %s\n%v", r.Name, f, r.Hints)
		}
	}
	covered := policytest.Cover(suite.Policy(), suite.Program(), results)
	for _, o := range covered.When {
		if missed := o.Missed(); missed != "" {
			t.Errorf("%s: no test sees %s of the policy's own when: %s", suite.Policy(), missed, o.Text)
		}
	}
	for _, r := range covered.Rules {
		if r.Held == 0 {
			t.Errorf("%s: the rule %s holds in no test", r.Pos, r.Rule)
		}
		if strings.Contains(r.Rule, "/") && !strings.HasPrefix(r.Rule, strings.TrimSuffix(file, policytest.Suffix)+"/") {
			continue
		}
		if r.Pos.File == "ralph:tasks.yaml" && file != "specum/specum_test.yaml" {
			continue
		}
		for _, o := range r.Operands {
			if missed := o.Missed(); missed != "" {
				t.Errorf("%s: no test of rule %s sees %s of: %s", r.Pos, r.Rule, missed, o.Text)
			}
		}
	}
}
