package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// shippedPolicies are the names of the policies that come with ralph.
func shippedPolicies(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if path.Dir(file) == strings.TrimSuffix(path.Base(file), ".yaml") {
			names = append(names, path.Dir(file))
		}
	}
	if len(names) < 7 {
		t.Fatalf("only the policies %q were found", names)
	}
	return names
}

// Each policy has a page, which names all that its users can meet: its params, its rules, the environment
// variables that it reads, and the fields of its files.
func TestPolicyPages(t *testing.T) {
	for _, name := range shippedPolicies(t) {
		t.Run(name, func(t *testing.T) {
			lacks(t, "docs/policies.md", []string{name})
			page := "docs/policies/" + name + ".md"
			words := policyWords(t, name)
			// What a page shares with that of another policy, it has by a link.
			for _, m := range regexp.MustCompile(`\]\(([a-z-]+\.md)#rules\)`).FindAllStringSubmatch(readDocument(t, page).text, -1) {
				words = slices.DeleteFunc(words, func(w string) bool { return mentions(t, "docs/policies/"+m[1], w) })
			}
			lacks(t, page, words)
		})
	}
}

func policyWords(t *testing.T, name string) []string {
	t.Helper()
	file := name + "/" + name + ".yaml"
	src, err := fs.ReadFile(examples.FS, file)
	if err != nil {
		t.Fatal(err)
	}
	var head struct{ Params map[string]any }
	if err := yaml.Unmarshal(src, &head); err != nil {
		t.Fatal(err)
	}
	var words []string
	for param := range head.Params {
		words = append(words, param)
	}
	program, findings := rules.Load(t.Context(), examples.FS, file, loop.Config())
	if program == nil {
		t.Fatal(findings)
	}
	for _, r := range program.Rules() {
		words = append(words, r.Name) // as the log has it: a rule of a guard has the name of the guard in front
	}
	for _, use := range program.Uses().Names {
		if variable, ok := strings.CutPrefix(use.Name, "env."); ok {
			words = append(words, variable)
		}
	}
	for _, f := range program.Facts() {
		if f.Schema != nil {
			words = append(words, fields(f.Schema)...)
		}
	}
	return words
}

// fields are the names of all fields that a type declares, those of its elements too.
func fields(t *schema.Schema) []string {
	if t == nil {
		return nil
	}
	names := fields(t.Elem)
	for name, field := range t.Fields {
		names = append(append(names, name), fields(field)...)
	}
	return names
}

// Each row of a table of requirements in testdata names the tests that show it: Go tests, names of the policy's own
// tests, and scripts of the command. So does each difference on the page of the policy, which names the version of the
// original.
func TestRequirements(t *testing.T) {
	goTests := goTestFiles(t)
	for _, name := range shippedPolicies(t) {
		t.Run(name, func(t *testing.T) {
			table := readDocument(t, "docs/testdata/requirements/"+name+".md").text
			rows := regexp.MustCompile(`(?m)^\|(.*)\|(.*)\|$`).FindAllStringSubmatch(table, -1)
			if len(rows) < 3 {
				t.Fatal("there is no table with two columns")
			}
			own := policyTests(t, name)
			if page := readDocument(t, "docs/policies/"+name+".md").text; strings.Contains(page, "\n## What differs from the original\n") {
				_, section, _ := strings.Cut(page, "\n## What differs from the original\n")
				section, _, _ = strings.Cut(section, "\n## ")
				if !regexp.MustCompile(`\b[0-9a-f]{7,8}\b`).MatchString(section) {
					t.Error("the page names no commit of the original")
				}
				for _, m := range regexp.MustCompile(`(?m)^- \*\*(.+?)[.,]?\*\*`).FindAllStringSubmatch(section, -1) {
					if !strings.Contains(table, "\n| Differs: "+m[1]+" |") {
						t.Errorf("the table has no row %q", "Differs: "+m[1])
					}
				}
			}
			for _, row := range rows[2:] { // below the head and its line
				shown := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1)
				if len(shown) == 0 {
					t.Errorf("no test shows: %s", strings.TrimSpace(row[1]))
				}
				for _, m := range shown {
					if err := findTest(t, m[1], own, goTests); err != nil {
						t.Errorf("%s: %v", strings.TrimSpace(row[1]), err)
					}
				}
			}
		})
	}
}

// findTest looks for what a row names.
func findTest(t *testing.T, name string, own map[string]bool, goTests map[string]string) error {
	t.Helper()
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join(root(t), "cmd/ralph/testdata/script", name))
		return err
	}
	if own[name] {
		return nil
	}
	function, sub, _ := strings.Cut(name, "/")
	src, ok := goTests[function]
	if !ok {
		return fmt.Errorf("there is no test %q", name)
	}
	if !strings.Contains(src, sub) && !strings.Contains(src, strings.ReplaceAll(sub, "_", " ")) {
		return fmt.Errorf("%s has no subtest %q", function, sub)
	}
	return nil
}

// policyTests are the names of the tests beside a policy.
func policyTests(t *testing.T, name string) map[string]bool {
	t.Helper()
	file := name + "/" + name + "_test.yaml"
	src, err := fs.ReadFile(os.DirFS(filepath.Join(root(t), "examples")), file)
	if err != nil {
		t.Fatal(err)
	}
	tests, findings := policytest.Parse(file, src)
	if tests == nil {
		t.Fatal(findings)
	}
	names := map[string]bool{}
	for _, test := range tests.Tests {
		names[test.Name] = true
	}
	return names
}

// goTestFiles returns the text of the file of each Go test, by the test's name.
func goTestFiles(t *testing.T) map[string]string {
	t.Helper()
	tests := map[string]string{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		src, err := os.ReadFile(name)
		for _, m := range function.FindAllSubmatch(src, -1) {
			tests[string(m[1])] += string(src)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
