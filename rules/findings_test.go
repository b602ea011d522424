package rules_test

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

var update = flag.Bool("update", false, "write the findings of testdata/broken.txt")

// facts is what the line FACTS of testdata/broken.txt means.
const facts = `facts: {state: {json: s.json, inline: true, schema: {properties: {phase: {enum: [plan, execution], default: plan}, done: {type: integer, default: 0}, total: {type: integer, default: 0}, name: {type: string}, items: {type: array, default: [], items: {properties: {status: {enum: [open, closed]}}}}}}}}`

// TestFindings reads the broken policies of testdata/broken.txt. Each begins with a line # NAME, and what is found follows the line =>.
func TestFindings(t *testing.T) {
	src, err := os.ReadFile("testdata/broken.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, part := range strings.Split("\n"+string(src), "\n# ")[1:] {
		name, policy, _ := strings.Cut(part, "\n")
		policy, want, _ := strings.Cut("\n"+policy, "\n=>\n")
		policy = strings.TrimPrefix(policy+"\n", "\n")
		_, err := rules.Options{Files: fstest.MapFS{}}.Parse("p.yaml", []byte(strings.Replace(policy, "FACTS", facts, 1)))
		var found rules.Findings
		if !errors.As(err, &found) {
			t.Errorf("%s: no findings but %v", name, err)
		}
		got := ""
		for _, f := range found {
			got += f.String() + "\n"
		}
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, f := range found {
			typed(t, name, policy, f)
		}
		out.WriteString("# " + name + "\n" + policy + "=>\n" + strings.TrimSpace(got) + "\n")
	}
	if *update {
		if err := os.WriteFile("testdata/broken.txt", []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// typed asserts that a word which a finding advises, typed over what is marked, leaves no finding there but that it is of another kind.
func typed(t *testing.T, name, policy string, f rules.Finding) {
	t.Helper()
	word := regexp.MustCompile(`^(?:did you mean "([^"]+)"\?|write (when|true|==|env\.NAME|nil))`).FindStringSubmatch(f.Help)
	lines := strings.Split(policy, "\n")
	if word == nil || strings.Contains(lines[f.Line-1], "FACTS") {
		return
	}
	before, marked := lines[f.Line-1][:f.Col-1], lines[f.Line-1][f.Col-1:][:max(1, f.Width)]
	if marked[0] == '"' {
		word[1] = `"` + word[1] + `"`
	}
	lines[f.Line-1] = before + word[1] + word[2] + strings.TrimPrefix(lines[f.Line-1], before+marked)
	_, err := rules.Options{Files: fstest.MapFS{}}.Parse("p.yaml", []byte(strings.Replace(strings.Join(lines, "\n"), "FACTS", facts, 1)))
	var left rules.Findings
	errors.As(err, &left)
	for _, l := range left {
		if l.Line == f.Line && l.Col == f.Col && l.Check != "expression" {
			t.Errorf("%s: %s\nafter the advice:\n%s", name, f.String(), l.String())
		}
	}
}
