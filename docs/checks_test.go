package docs_test

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/docs"
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

var update = flag.Bool("update", false, "rewrite the pages that tests make, and the messages in docs/checks.md")

// checkEntry is the entry of a check: its ID, the paragraph of its table's sentence, and an example if it has one.
var checkEntry = regexp.MustCompile("(?m)^### (.*)\n\n((?:.+\n)+)\n(?:```yaml check\n((?s:.*?)\n)```\n)?")

// The page of checks has an entry for each check, in the order of the table, with its severity and its sentence. The bad line of an
// entry gives its message, and the good line gives no finding of the check and no error.
func TestChecksPage(t *testing.T) {
	file := filepath.Join(root(t), "docs", "checks.md")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sentence := map[string]string{}
	var ids, entries []string
	for _, c := range form.Checks() {
		ids = append(ids, c.ID)
		sentence[c.ID] = strings.ToUpper(c.Severity[:1]) + c.Severity[1:] + ": " + c.Doc + "."
	}
	var page strings.Builder
	end := 0
	for _, at := range checkEntry.FindAllStringSubmatchIndex(string(src), -1) {
		id, text := string(src[at[2]:at[3]]), string(src[at[4]:at[5]])
		entries = append(entries, id)
		if !strings.HasPrefix(strings.ReplaceAll(text, "\n", " "), sentence[id]) {
			t.Errorf("the entry %s does not begin with: %s", id, sentence[id])
		}
		if help := docs.Check(id); !strings.HasPrefix(help, "# "+id+"\n\n") || regexp.MustCompile("```|\n#|\\]\\([^h]").MatchString(help) {
			t.Errorf("ralph help %s prints\n%s", id, help)
		}
		if at[6] > 0 {
			page.Write(src[end:at[6]])
			page.WriteString(checkExample(t, id, string(src[at[6]:at[7]])))
			end = at[7]
		}
	}
	page.Write(src[end:])
	if diff := gocmp.Diff(ids, entries); diff != "" {
		t.Errorf("docs/checks.md (-checks +entries):\n%s", diff)
	}
	if *update {
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := gocmp.Diff(string(src), page.String()); diff != "" {
		t.Errorf("docs/checks.md (-page +ralph), to be rewritten with -update:\n%s", diff)
	}
	if got := docs.Check("no-such-check"); got != "" {
		t.Errorf("a check that does not exist has the entry %q", got)
	}
}

// checkExample returns an example as it has to be: a comment with the message, the bad line, a comment with the help, and the good line
// where the help is not one.
func checkExample(t *testing.T, id, example string) string {
	m := regexp.MustCompile(`\A#.*\n((?s:.*?)\n)(?:\n(#).*\n((?s:.*)))?\z`).FindStringSubmatch(example)
	if m == nil {
		t.Errorf("the example of %s has no comment with the message above its bad line", id)
		return example
	}
	bad, good := m[1], m[3]
	for _, d := range found(t, bad) {
		if d.Check != id {
			continue
		}
		place := regexp.MustCompile(`(policy\.yaml:)?\d+:\d+`) // in the completed policy
		example = "# " + place.ReplaceAllString(d.Message, "…") + "\n" + bad
		if m[2] != "" {
			example += "\n# " + place.ReplaceAllString(cmp.Or(d.Help, "instead"), "…") + "\n" + good
		}
		for _, d := range found(t, good) {
			if good != "" && (d.Check == id || d.Severity == rules.Error) {
				t.Errorf("%s: the good line is found, too: %s", id, d)
			}
		}
		return example
	}
	t.Errorf("%s: the bad line is not found:\n%s", id, bad)
	return example
}

// found returns what ralph check finds in the lines of an example, completed to a policy.
func found(t *testing.T, lines string) rules.Diagnostics {
	switch {
	case strings.HasPrefix(lines, "- "):
		lines = "rules:\n" + regexp.MustCompile("(?m)^(.)").ReplaceAllString(lines, "  $1")
	case regexp.MustCompile(`\A(when|stop|continue|then):`).MatchString(lines) && !strings.Contains(lines, "\nrules:"):
		lines = regexp.MustCompile("(?m)^(.)").ReplaceAllString(lines, "    $1")
		if !regexp.MustCompile("(?m)^    (stop|continue):").MatchString(lines) {
			lines += "    stop: example\n"
		}
		lines = "rules:\n  - name: example\n" + lines
	}
	policy := ""
	for _, key := range []string{
		"ralph: 1",
		"limits: {repeats: 3}",
		"facts: {todo: {checklist: TODO.md}, state: {json: state.json, schema: {properties: {ready: {type: boolean, default: false}, step: {type: integer, default: 0}, " +
			"left: {type: integer}, phase: {enum: [plan, work, test], default: plan}}}}}",
		"rules: [{name: example, when: stop_hook_active, stop: example}]",
	} {
		name, _, _ := strings.Cut(key, " ")
		if !strings.Contains("\n"+lines, "\n"+name) {
			policy += key + "\n"
		}
	}
	cfg := loop.Config()
	cfg.Unapproved = "the policy is not approved yet"
	_, diags := rules.Check(t.Context(), fstest.MapFS{"policy.yaml": {Data: []byte(policy + lines)}}, "policy.yaml", cfg)
	return diags
}
