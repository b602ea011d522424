package policytest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// The process that TestRun starts: its policies have tests that pass, that fail and
// that cannot be read.
func TestRunInAProcess(t *testing.T) {
	tests := map[string]string{
		"good": "tests:\n  - name: again\n    expect: {continue: Again}\n",
		"bad":  "tests:\n  - name: again\n    expect: {continue: Again}\n  - name: never again\n    expect:\n      stop: true\n",
		"typo": "tests:\n  - name: again\n    expext: {continue: Again}\n",
	}
	src, ok := tests[os.Getenv("POLICYTEST_RUN")]
	if !ok {
		t.Skip("TestRun starts this in a process of its own")
	}
	fsys := fstest.MapFS{
		"policies/p.yaml":      {Data: []byte("ralph: 1\nrules:\n  - name: go-on\n    continue: Again.\n")},
		"policies/p_test.yaml": {Data: []byte(src)},
	}
	policytest.Run(t, fsys, "policies/p.yaml", loop.Config())
}

// Each test of a policy is a subtest, and what fails is reported at its place.
func TestRun(t *testing.T) {
	for name, want := range map[string][]string{
		"good": {"--- PASS: TestRunInAProcess/again "},
		"bad": {
			"--- PASS: TestRunInAProcess/again ",
			"--- FAIL: TestRunInAProcess/never_again ",
			"policies/p_test.yaml:6:13: verdict\n          want  stop\n          got   continue by rule go-on\n",
		},
		"typo": {"--- FAIL: TestRunInAProcess ", "policies/p_test.yaml:3:5: the key \"expext\" is not a field of this object"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRunInAProcess$", "-test.v")
			cmd.Env = append(os.Environ(), "POLICYTEST_RUN="+name)
			out, err := cmd.CombinedOutput()
			if failed := err != nil; failed != (name != "good") {
				t.Errorf("the process ended with %v", err)
			}
			for _, part := range want {
				if !strings.Contains(string(out), part) {
					t.Errorf("there is no\n%s\nin\n%s", part, out)
				}
			}
		})
	}
}

// What a program adds to the language is tested like the rest of it: nothing carries
// its effects out.
func TestOwnEventsAndEffects(t *testing.T) {
	policytest.Run(t, fstest.MapFS{
		"p.yaml": {Data: []byte(`ralph: 1
events: [Deploy]
rules:
  - name: tell
    note: "A deployment."
    then: [{page: {who: [ops], urgent: true}}]
`)},
		"p_test.yaml": {Data: []byte(`tests:
  - name: reports a deployment
    event: Deploy
    expect:
      effects: [{page: {urgent: true, who: [ops]}}]
`)},
	}, "p.yaml", rules.Config{Events: []string{"Deploy"}, Effects: []rules.EffectDecl{{Name: "page"}}})
}
