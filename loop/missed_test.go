package loop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A marker that a rule waited for, and that the agent wrote where it does not count, is listed at the end of the
// continuation, whichever rule continues.
func TestMarkersThatDidNotCount(t *testing.T) {
	line := func(marker, why string) string {
		return "You have not yet written “" + marker + "” where it counts: " + why + ". When it is true, and not before, write it as plain text alone on a line."
	}
	const on = "\n  - {name: on, continue: Go on.}\n"
	for _, c := range []struct {
		name, rules string
		lines       []string
		want        string
	}{
		{"nothing is seen", `  - {name: first, when: said("DONE"), stop: x}` + on, []string{agent("Half of it.")}, "Go on."},
		{"it counts", `  - {name: first, when: said("DONE") and exists("none"), stop: x}` + on, []string{agent("DONE")}, "Go on."},
		{"said", `  - {name: first, when: said("DONE"), stop: x}` + on, []string{agent("So DONE")}, "Go on.\n\n" + line("DONE", "it is not alone on its line")},
		{"promised", `  - {name: first, when: promised("DONE"), stop: x}` + on, []string{agent("DONE")}, "Go on.\n\n" + line("<promise>DONE</promise>", "its tag is missing")},
		{"mentions", `  - {name: first, when: mentions("all green"), stop: x}` + on, []string{agent("I see all green here."), agent("Bye.")},
			"Go on.\n\n" + line("all green", "it is in a text before your last one, and not alone on its line")},
		{"each once", `  - {name: first, when: said("DONE") or mentions("DONE"), stop: x}` + "\n" + `  - {name: second, when: said("DONE"), stop: y}` + on, []string{agent("`DONE`")},
			"Go on.\n\n" + line("DONE", "it is in code")},
		{"of several rules", `  - {name: first, when: said("A1"), stop: x}` + "\n" + `  - {name: second, when: said("B2"), stop: y}` + on, []string{agent("no A1 and no B2")},
			"Go on.\n\n" + line("A1", "“no” negates it") + "\n" + line("B2", "“no” negates it")},
		{"three at most", `  - {name: first, when: 'any(["A", "B", "C", "D"], said(#))', stop: x}` + on, []string{agent("> A\n> B\n> C\n> D")},
			"Go on.\n\n" + line("A", "it is in a block quote") + "\n" + line("B", "it is in a block quote") + "\n" + line("C", "it is in a block quote")},
		{"by the rule that continues", `  - {name: first, when: not promised("DONE"), continue: Go on.}`, []string{agent("`<promise>DONE</promise>`")},
			"Go on.\n\n" + line("<promise>DONE</promise>", "it is in code")},
		{"what no rule waited for", `  - {name: first, when: exists("none") and said("DONE"), stop: x}` + on, []string{agent("`DONE`")}, "Go on."},
		{"a marker of several lines", `  - {name: first, when: mentions("a\n  b"), stop: x}` + on, []string{agent("> a\n  b"), agent("`a`")},
			"Go on.\n\n" + line("a b", "it is in a block quote")},
		{"a long marker", `  - {name: first, when: 'said("` + strings.Repeat("x", 500) + `")', stop: x}` + on, []string{agent("`" + strings.Repeat("x", 500) + "`")},
			"Go on.\n\n" + line(strings.Repeat("x", 400)+"…", "it is in code")},
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
