package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
)

// Only a person approves: on a terminal the answer counts, and a session of an agent is refused there too.
func TestPerson(t *testing.T) {
	type attempt struct {
		name, typed, variable string
		args                  []string
		approved              bool
	}
	attempts := []attempt{
		{"yes", "yes\n", "", nil, true},
		{"y", "Y\n", "", nil, true},
		{"no", "no\n", "", nil, false},
		{"an empty line", "\n", "", nil, false},
		{"the end of the input", "\x04", "", nil, false},
		{"another word", "yesterday\n", "", nil, false},
		{"--yes", "", "", []string{"--yes"}, true},
		{"RALPH_RUN", "yes\n", "RALPH_RUN", nil, false},
		{"an empty variable", "yes\n", "", nil, true},
	}
	for _, name := range host.SessionVariables() {
		attempts = append(attempts, attempt{name, "yes\n", name, nil, false}, attempt{name + " and --yes", "", name, []string{"--yes"}, false})
	}
	for _, c := range attempts {
		t.Run(c.name, func(t *testing.T) {
			dir, own := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, ".ralph"), 0o755); err != nil {
				t.Fatal(err)
			}
			policy := "ralph: 1\nfacts: {it: {exec: [make]}}\nrules: [{name: r, when: it.code == 0, stop: enough}]\n"
			if err := os.WriteFile(filepath.Join(dir, ".ralph", "policy.yaml"), []byte(policy), 0o644); err != nil {
				t.Fatal(err)
			}
			outer, inner := openTerminal(t)
			defer inner.Close()
			if _, err := outer.WriteString(c.typed + c.typed); err != nil { // for the policy, and for the project
				t.Fatal(err)
			}
			var out, errs strings.Builder
			a := &app{stdin: inner, stdout: &out, stderr: &errs, getenv: func(name string) string {
				if name == c.variable {
					return "1"
				}
				return map[string]string{"RALPH_STATE_DIR": own, "HOME": dir}[name]
			}}
			status := a.run(t.Context(), append([]string{"trust", "--project", dir}, c.args...))
			approvals, _ := filepath.Glob(filepath.Join(own, "trust", "*.json"))
			if (status == exitOK) != c.approved || (len(approvals) == 2) != c.approved || !c.approved && (status != exitFailed || len(approvals) > 0) {
				t.Errorf("status %d, %d approvals, want approved: %v\n%s%s", status, len(approvals), c.approved, out.String(), errs.String())
			}
			if c.variable != "" && out.Len() > 0 {
				t.Errorf("a refused session sees\n%s", out.String())
			}
			if asked := strings.Contains(errs.String(), "Approve .ralph/policy.yaml? [y/N]"); asked != (c.typed != "" && c.variable == "") {
				t.Errorf("it asks: %v\n%s", asked, errs.String())
			}
		})
	}
}
