package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/docs/checks"
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

var update = flag.Bool("update", false, "rewrite the pages that tests make, and what ralph check prints in docs/checks")

// checkExample is a command with what it printed.
var checkExample = regexp.MustCompile("(?m)^```console\n\\$ ralph check (\\S+)\n((?:[^`].*\n|\n)*)```\n")

// Each check has a page and each page a check. A page has the severity and the sentence of the table, an example that this
// check finds, and what to write instead, which it does not find.
func TestCheckPages(t *testing.T) {
	var ids []string
	for _, c := range form.Checks() {
		ids = append(ids, c.ID)
		t.Run(c.ID, func(t *testing.T) { checkPage(t, c) })
	}
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "checks", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		pages[i] = strings.TrimSuffix(filepath.Base(page), ".md")
	}
	slices.Sort(ids)
	slices.Sort(pages)
	if diff := cmp.Diff(ids, pages); diff != "" {
		t.Errorf("docs/checks (-checks +pages):\n%s", diff)
	}
	if got := checks.Page("no-such-check"); got != "" {
		t.Errorf("a check that does not exist has the page %q", got)
	}
}

func checkPage(t *testing.T, c form.Check) {
	name := "docs/checks/" + c.ID + ".md"
	src, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	page, blocks, files := string(src), readDocument(t, name).blocks, fstest.MapFS{}
	for _, b := range blocks {
		if b.file != "" {
			files[b.file] = &fstest.MapFile{Data: []byte(b.text)}
		}
	}
	begin := fmt.Sprintf("# %s\n\n%s: %s.\n\n", c.ID, strings.ToUpper(c.Severity[:1])+c.Severity[1:], c.Doc)
	if *update {
		page = checkExample.ReplaceAllStringFunc(page, func(block string) string {
			file := checkExample.FindStringSubmatch(block)[1]
			return fmt.Sprintf("```console\n$ ralph check %s\n%s```\n", file, printed(t, files, file))
		})
		page = regexp.MustCompile(`\A# .*\n\n.*\n\n`).ReplaceAllLiteralString(page, begin)
		if err := os.WriteFile(filepath.Join(root(t), name), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(page, begin) {
		t.Errorf("%s does not begin with:\n%s", name, begin)
	}
	if m := checkExample.FindStringSubmatch(page); m != nil {
		if got := printed(t, files, m[1]); got != m[2] || !strings.Contains(got, "["+c.ID+"]") {
			t.Errorf("what is found in %s (-page +ralph), to be rewritten with -update:\n%s", m[1], cmp.Diff(m[2], got))
		}
	}
	before, instead, ok := strings.Cut(page, "\n## Instead\n")
	if !ok || strings.Contains(before, "\n```") != strings.Contains(before, "\n## Example\n\n") {
		t.Errorf("the sections of %s are not an example, if it has one, and what to write instead", name)
	}
	for _, b := range blocks {
		if b.lang != "yaml" || !strings.Contains(instead, "```yaml\n"+b.text+"```\n") {
			continue
		}
		policy := []byte(b.text)
		if !strings.HasPrefix(b.text, "ralph:") {
			policy = complete(t, name, b.text, b.with)
		}
		for _, d := range found(t, fstest.MapFS{"policy.yaml": {Data: policy}}, "policy.yaml") {
			if d.Check == c.ID || d.Severity == rules.Error {
				t.Errorf("%s:%d: what to write instead is found, too:\n%s", name, b.line, d.Message)
			}
		}
	}
	// For a terminal comments are left out, and links are absolute.
	want := regexp.MustCompile(`(?m)^<!-- .*\n`).ReplaceAllString(page, "")
	want = strings.ReplaceAll(want, "](../", "](https://github.com/ralph-sdk/ralph/blob/main/docs/")
	if diff := cmp.Diff(want, checks.Page(c.ID)); diff != "" && !*update {
		t.Errorf("ralph help %s (-page +help):\n%s", c.ID, diff)
	}
	if strings.Contains(want, "<!--") || regexp.MustCompile(`\]\([^h]`).MatchString(want) {
		t.Errorf("%s has a comment of several lines, or a link that does not begin with ../", name)
	}
}

// found returns what ralph check finds in a file.
func found(t *testing.T, files fs.FS, name string) rules.Diagnostics {
	cfg := loop.Config()
	cfg.Unapproved = "the policy is not approved yet"
	_, diags := rules.Check(t.Context(), files, name, cfg)
	return diags
}

// printed returns what ralph check prints of a file: what it finds, and the bounds of a policy that passes.
func printed(t *testing.T, files fs.FS, name string) string {
	diags := found(t, files, name)
	if slices.ContainsFunc(diags, func(d rules.Diagnostic) bool { return d.Severity != rules.Info }) {
		return diags.Format()
	}
	program, _ := rules.Load(t.Context(), files, name, loop.Config())
	text := diags.Format()
	if bounds := (project.Policy{Name: name, Program: program}).Bounded(); bounds != "" {
		text += bounds + "\n"
	}
	return text
}

func TestChecksIndex(t *testing.T) {
	p := reference.New(t, "../checks", "Checks")
	p.Text("`ralph check` reports all problems of a policy at once; of a file that is not YAML, the first. Each finding ends with the ID of its check, in brackets, such as `[enum]`. " +
		"`ralph help CHECK` prints the page of a check, with an example and what to write instead. " +
		"A policy with an **error** cannot be used; a **warning** means that the policy probably does something else than you intend; an " +
		"**info** suggests an improvement. The exit status is 1 if there is a warning or an error; `--fail-on` changes that. Below the findings, on stderr, is what ends a loop of a policy that passes at the latest.\n\n" +
		"[A comment with a reason](checks/bad-ignore.md#instead) silences a finding that is not an error.")
	sections := map[string][2]string{ // by the first check of each
		"read":        {"The file"},
		"yaml-syntax": {"YAML", "YAML reads some expressions differently from what they look like."},
		"bad-name":    {"Names"},
		"type":        {"Types", "Schemas and sources give each name a type."},
		"fact-source": {"Facts, params and schemas"},
		"no-rules":    {"Rules, texts, effects and includes"},
		"config":      {"The program that loads the policy"},
		"never-true": {"The policy as a whole", "These checks look at all rules together. They understand booleans, enums, whole numbers with their bounds, " +
			"comparisons, and whether facts are missing. They do not know the result of a function, a pattern or the transcript; where it " +
			"matters, they report nothing. They rely on schemas: a field has a value of its type, or is unusable. A number can be beyond " +
			"`minimum` and `maximum`, because such a value [is kept](policy.md#schemas). A param can have any value that its schema allows.\n\n" +
			"Each finding has a **witness**: a state that shows it, as JSON. Other values do not matter. `ralph test --write` makes a test of " +
			"it. Included rules are written for many policies, so a rule of theirs that one policy never needs is not reported."},
		"bad-ignore": {"Comments"},
	}
	var contents []string
	for _, c := range form.Checks() {
		if s, begins := sections[c.ID]; begins {
			contents = append(contents, fmt.Sprintf("[%s](#%s)", s[0], strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(s[0], ",", "")), " ", "-")))
		}
	}
	p.Text("%s", strings.Join(contents, " · "))
	var rows [][]string
	for _, c := range form.Checks() {
		if s, begins := sections[c.ID]; begins {
			if rows != nil {
				p.Table(rows...)
			}
			p.Section(2, s[0])
			if s[1] != "" {
				p.Text("%s", s[1])
			}
			rows = [][]string{{"check", "severity", "what it finds"}}
			delete(sections, c.ID)
		}
		rows = append(rows, []string{fmt.Sprintf("[%s](checks/%[1]s.md)", c.ID), c.Severity, c.Doc})
	}
	p.Table(rows...)
	if len(sections) > 0 {
		t.Errorf("no check begins the sections %q", sections)
	}
	p.Check()
}
