package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each recipe has a policy, its tests, the command that starts it, and what to change. TestDocuments runs them: at the
// end of the page, check finds nothing and all tests pass.
func TestCookbook(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(root(t), "docs", "cookbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	recipes := strings.Split(string(src), "\n## ")[1:]
	recipes, last := recipes[:len(recipes)-1], recipes[len(recipes)-1]
	if len(recipes) != 12 {
		t.Errorf("there are %d recipes, want 12", len(recipes))
	}
	policy := regexp.MustCompile(`<!-- file: \.ralph/([a-z-]+)\.yaml -->`)
	for _, recipe := range recipes {
		title, _, _ := strings.Cut(recipe, "\n")
		names := policy.FindAllStringSubmatch(recipe, -1)
		if len(names) != 1 {
			t.Errorf("%s: there are %d policies, want 1", title, len(names))
			continue
		}
		name := names[0][1]
		for what, want := range map[string]string{
			"its tests":                  `<!-- file: \.ralph/` + name + `_test\.yaml -->`,
			"the command that starts it": `(?m)^(\$ )?ralph (install claude-code|run) --policy ` + name + `\b`,
			"what the agent sees":        `(?m)^\$ ralph (eval|run) --policy ` + name + `\b`,
			"what to change":             `(?m)^\*\*Change\*\* `,
		} {
			if !regexp.MustCompile(want).MatchString(recipe) {
				t.Errorf("%s: it lacks %s", title, what)
			}
		}
	}
	if commands := `\n\$ ralph check \.ralph\n(.*\n)*\$ ralph test \.ralph\nok `; !regexp.MustCompile(commands).MatchString(last) {
		t.Errorf("the page does not end with %s", commands)
	}
}
