package loop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// quiet is why a fact may be missing without a word to the user, as docs/policy.md lists it.
var quiet = []missed{
	{why: "no file", fact: "{text: gone.txt}"},
	{why: "no file", fact: "{json: gone/gone.json}"},
	{why: "an empty text", fact: "{text: empty.txt}"},
	{why: "no front matter", fact: "{frontmatter: note.txt}"},
	{why: "no git repository", fact: "{git: .}"},
	{why: "no task list", fact: "{tasks: claude}"},
	{why: "no task list", fact: "{tasks: claude, list: gone}"},
	{why: "a path over a fact that is missing or invalid", fact: "{text: '${gone}.txt'}"},
	{why: "no key", fact: judgeFact},
	{why: "no conversation", fact: judgeFact, env: map[string]string{"ANTHROPIC_API_KEY": "x"}},
	{why: "the session is a judge's own", fact: judgeFact, env: map[string]string{"ANTHROPIC_API_KEY": "x", "RALPH_JUDGE": "1"}},
}

// missed is why a fact is missing.
type missed struct {
	why, fact string
	env       map[string]string
}

const judgeFact = "{judge: more, returns: {properties: {more: {type: boolean}}}}"

// aloud is why a fact is missing and the user sees that.
var aloud = map[string]string{ // by fact
	"{text: folder}":                     "folder is a directory, not a file",
	"{text: out.txt}":                    "out.txt is a link that leads outside the project",
	"{text: '${empty}.txt'}":             "${empty} is empty",
	"{exec: [no-such-program-anywhere]}": "there is no program no-such-program-anywhere",
	"{tasks: claude, list: ../up}":       `"../up" cannot be the name of a task list`,
	"{glob: 'a/**/[', parse: text}":      "has an unusable pattern",
	"{judge: x, api: openai, returns: {properties: {more: {type: boolean}}}}": "no model is named",
}

// What is ordinary is not reported, and every other reason for a missing fact is.
func TestMissingFactsAreReported(t *testing.T) {
	missing := func(t *testing.T, fact string, env map[string]string) []string {
		p := newProject(t, map[string]string{"empty.txt": " \n", "note.txt": "no", "folder/x": ""})
		if err := os.Symlink(filepath.Dir(p.dir), p.path("out.txt")); err != nil {
			t.Skip("no links here:", err)
		}
		p.env = map[string]string{"HOME": t.TempDir(), "OPENAI_BASE_URL": "http://127.0.0.1:1"}
		for name, v := range env {
			p.env[name] = v
		}
		ev := p.stop()
		if len(env) == 0 {
			ev = p.talk(human("One."))
		}
		policy := "ralph: 1\nfacts:\n  gone: {text: gone.txt}\n  empty: {text: empty.txt, default: ''}\n  it: " + fact + "\nrules:\n  - {name: go, when: missing(it), continue: '${path(it)}.', log: '${problem(it)}'}\n"
		d := p.run(p.loop(policy, trusted()), ev)
		if !d.Continue() || len(d.Log) == 0 {
			t.Errorf("it says %q", said(d))
		}
		return d.Notices
	}
	listed := map[string]bool{}
	for _, c := range quiet {
		listed[c.why] = true
		t.Run(c.why+" "+c.fact, func(t *testing.T) {
			if diff := cmp.Diff([]string(nil), missing(t, c.fact, c.env)); diff != "" {
				t.Errorf("notices (-want +got)\n%s", diff)
			}
		})
	}
	for fact, want := range aloud {
		t.Run(fact, func(t *testing.T) {
			if got := strings.Join(missing(t, fact, nil), "\n"); !strings.Contains(got, "] it: ") || !strings.Contains(got, want) {
				t.Errorf("notices %q, want %q", got, want)
			}
		})
	}

	doc, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(strings.ReplaceAll(string(doc), "\n", " "), "ralph reports missing and invalid facts, except what is expected: ")
	text, _, _ = strings.Cut(text, "it reports that fact.")
	list, _, _ := strings.Cut(text, " (")
	for why := range strings.SplitSeq(list, ", ") {
		if !listed[why] {
			t.Errorf("docs/policy.md lists %q, which no test shows", why)
		}
	}
	for why := range listed {
		if !strings.Contains(text, why) {
			t.Errorf("docs/policy.md does not list %q", why)
		}
	}
}
