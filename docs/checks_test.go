package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

var update = flag.Bool("update", false, "rewrite what ralph check says in docs/checks.md")

// checkExample is a command with what it printed.
var checkExample = regexp.MustCompile("(?m)^```console\n\\$ ralph check (\\S+)\n((?:[^`].*\n|\n)*)```\n")

// The page of checks has a section for each check, in their order, that says how
// severe it is and what it finds. Its example is found by that very check.
func TestChecksPage(t *testing.T) {
	name := filepath.Join(root(t), "docs", "checks.md")
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(src), "\r\n", "\n")
	files := fstest.MapFS{}
	for _, b := range readDocument(t, "docs/checks.md").blocks {
		if b.file != "" {
			files[b.file] = &fstest.MapFile{Data: []byte(b.text)}
		}
	}
	if *update {
		page = checkExample.ReplaceAllStringFunc(page, func(block string) string {
			file := checkExample.FindStringSubmatch(block)[1]
			return fmt.Sprintf("```console\n$ ralph check %s\n%s```\n", file, said(t, files, file))
		})
		for _, c := range form.Checks() {
			first := regexp.MustCompile("(?m)^### " + regexp.QuoteMeta(c.ID) + "\n\n.*\n")
			page = first.ReplaceAllString(page, "### "+c.ID+"\n\n"+about(c))
		}
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var headings []string
	for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(page, -1) {
		headings = append(headings, m[1])
	}
	var ids []string
	for _, c := range form.Checks() {
		ids = append(ids, c.ID)
	}
	if diff := cmp.Diff(ids, headings); diff != "" {
		t.Fatalf("the sections (-checks +page):\n%s", diff)
	}
	sections := regexp.MustCompile(`(?m)^### .*\n`).Split(page, -1)[1:]
	for i, c := range form.Checks() {
		if !strings.HasPrefix(strings.TrimLeft(sections[i], "\n"), about(c)) {
			t.Errorf("the section %s does not begin with: %s", c.ID, about(c))
		}
		m := checkExample.FindStringSubmatch(sections[i])
		if m == nil {
			continue
		}
		if got := said(t, files, m[1]); got != m[2] || !strings.Contains(got, "["+c.ID+"]") {
			t.Errorf("what is said about %s (-page +ralph), to be rewritten with -update:\n%s", m[1], cmp.Diff(m[2], got))
		}
	}
}

// about is the first line of a check's section.
func about(c form.Check) string {
	return strings.ToUpper(c.Severity[:1]) + c.Severity[1:] + ": " + c.Doc + ".\n"
}

// said is what ralph check says about a file.
func said(t *testing.T, files fs.FS, name string) string {
	cfg := loop.Config()
	cfg.Unapproved = "the policy is not approved yet"
	_, diags := rules.Check(t.Context(), files, name, cfg)
	return diags.Format()
}
