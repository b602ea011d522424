package loop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A marker that a rule waited for, and that the agent wrote where it does not count, is listed at the end of the
// continuation, whichever rule continues.
func TestMarkersThatDidNotCount(t *testing.T) {
	line := func(marker, why string) string {
		return "\n\n“" + marker + "” did not count: " + why + ".\nWhen it is true, and not before, write this line:\n\n" + marker
	}
	const (
		on      = "\n  - {name: on, continue: Go on.}\n"
		quote   = "it is in a block quote"
		code    = "it is in code"
		differs = "it differs in letter case, white space or signs"
	)
	long := strings.Repeat("x", 500)
	for _, c := range []struct {
		name, rules string
		lines       []string
		want        string
	}{
		{"nothing is seen", `  - {name: first, when: said("DONE"), stop: x}` + on, []string{agent("Half of it.")}, "Go on."},
		{"it counts", `  - {name: first, when: said("DONE") and exists("none"), stop: x}` + on, []string{agent("DONE")}, "Go on."},
		{"said", `  - {name: first, when: said("DONE"), stop: x}` + on, []string{agent("So DONE")}, "Go on." + line("DONE", "it is not alone on its line")},
		{"promised", `  - {name: first, when: promised("DONE"), stop: x}` + on, []string{agent("DONE")}, "Go on." + line("<promise>DONE</promise>", differs)},
		{"mentions", `  - {name: first, when: mentions("all green"), stop: x}` + on, []string{agent("I see all green here."), agent("Bye.")},
			"Go on." + line("all green", "it is in an earlier text, and not alone on its line")},
		{"each once", `  - {name: first, when: said("DONE") or mentions("DONE"), stop: x}` + "\n" + `  - {name: second, when: said("DONE"), stop: y}` + on, []string{agent("`DONE`")},
			"Go on." + line("DONE", code)},
		{"of several rules", `  - {name: first, when: said("A1"), stop: x}` + "\n" + `  - {name: second, when: said("B2"), stop: y}` + on, []string{agent("~~A1~~\n- [ ] B2")},
			"Go on." + line("A1", "it is struck out") + line("B2", "its box is not ticked")},
		{"three at most", `  - {name: first, when: 'any(["A", "B", "C", "D"], said(#))', stop: x}` + on, []string{agent("> A\n> B\n> C\n> D")}, "Go on." + line("A", quote) + line("B", quote) + line("C", quote)},
		{"by the rule that continues", `  - {name: first, when: not promised("DONE"), continue: Go on.}`, []string{agent("`<promise>DONE</promise>`")}, "Go on." + line("<promise>DONE</promise>", code)},
		{"what no rule waited for", `  - {name: first, when: exists("none") and said("DONE"), stop: x}` + on, []string{agent("`DONE`")}, "Go on."},
		{"a marker of several lines", `  - {name: first, when: mentions("a\n  b"), stop: x}` + on, []string{agent("> a b"), agent("`a`")}, "Go on." + line("a b", quote)},
		{"a long marker", `  - {name: first, when: 'said("` + long + `")', stop: x}` + on, []string{agent("`" + long + "`")},
			"Go on." + strings.Replace(line(long, code), long, long[:400]+"…", 1)},
		{"no continuation", `  - {name: first, when: said("DONE"), continue: x}` + "\n  - {name: on, stop: y}\n", []string{agent("`DONE`")}, "y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			d := p.run(p.loop("ralph: 1\nrules:\n"+c.rules+"\n"), p.talk(append([]string{human("Go.")}, c.lines...)...))
			if diff := cmp.Diff(c.want, d.Verdict.Reason); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The memory keeps the lines before the markers in the texts that the agent got, of all rules: below them a marker is
// ralph's text repeated.
func TestRepeatedTextDoesNotCount(t *testing.T) {
	p := newProject(t, map[string]string{"first": "x"})
	l := p.loop(`
ralph: 1
rules:
  - {name: kept, when: 'said("DONE") or promised("KEPT")', stop: x}
  - {name: one, when: exists("first"), continue: "Zum Schluss:\n\n**DONE**"}
  - {name: two, continue: "Go on, then write\n<promise>KEPT</promise>"}
`)
	say := func(text string) string { return said(p.run(l, p.talk(human("Go."), agent(text)))) }
	first := say("So far.")
	if err := os.Remove(filepath.Join(p.dir, "first")); err != nil {
		t.Fatal(err)
	}
	second := say("So far.")
	for _, c := range []struct{ text, want string }{
		{first, "it repeats the text that asks for it"}, {second, "it repeats the text that asks for it"}, {"I am ready.\nDONE", "stop kept"}, {"<promise>KEPT</promise>", "stop kept"},
	} {
		if got := say(c.text); !strings.Contains(got, c.want) {
			t.Errorf("after %q: %q", c.text, got)
		}
	}
}
