package loop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const lenientPolicy = `
ralph: 1
facts:
  plan:
    frontmatter: plan.md
    LENIENT
    schema: {properties: {n: {type: integer, default: 1}, on: {type: boolean, default: true}, promise: {type: string, default: ""}}}
rules:
  ASK
  - {name: none, when: missing(plan), stop: no plan}
  - {name: "off", when: not plan.on, stop: it is off}
  - name: go
    when: ok(plan) and plan.promise != "x"
    continue: "${plan.n}: ${plan.promise}"
    then: [{set: plan.n = plan.n + 1}]
`

// Front matter that is not YAML is used by a lenient fact and reported, and only what is
// set changes in it.
func TestLenient(t *testing.T) {
	for _, c := range []struct {
		name, option, ask, file, said, reported, after string
	}{
		{"without it", "lenient: false", "", "---\npromise: Done: x\nn: 1\n---\n", "stop off", "[ralph] the rule off is undecided: plan is invalid: plan.md has front matter that is not valid YAML: mapping values are not allowed in this context", ""},
		{"with it", "lenient: true", "", "---\npromise: Done: x\nn: 1\n---\n", "1: Done: x",
			`[ralph] plan: plan.md:2: promise is not valid YAML; it is read as the text "Done: x"`, "---\npromise: Done: x\nn: 2\n---\n"},
		{"switched off beside a pattern", "lenient: true", "", "---\non: false\nglob: *.md\n---\n", "stop off", `[ralph] plan: plan.md:3: glob is not valid YAML; it is read as the text "*.md"`, ""},
		{"a list for a text", "lenient: true", "", "---\npromise: [DONE]\n---\n", "1: [DONE]", "", "---\npromise: [DONE]\n\"n\": 2\n---\n"},
		{"a comment for a text", "lenient: true", "", "---\npromise: #done\n---\n", "stop", `[ralph] plan.md:2:10: plan.promise # begins a comment; put it in quotes: "#done"`, ""},
		{"two counts, without it", "lenient: false", "", "---\nn: 1\nn: 5\n---\n", "5:", "[ralph] plan.md:3:4: plan.n is set more than once, and the last one counts; remove the others", "---\nn: 1\nn: 6\n---\n"},
		{"two counts, with it", "lenient: true", "", "---\nn: 1\nn: 5\n---\n", "5:", "[ralph] plan: plan.md:2: n is set again below, which counts; this one is ignored", "---\nn: 1\nn: 6\n---\n"},
		{"a policy that shows it", "lenient: true", "- {name: ask, when: problem(plan) != '', notice: 'look: ${problem(plan)}'}", "---\npromise: Done: x\n---\n", "1: Done: x", `look: plan.md:2: promise is not valid YAML; it is read as the text "Done: x"`, "---\npromise: Done: x\n\"n\": 2\n---\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"plan.md": c.file})
			policy := strings.NewReplacer("LENIENT", c.option, "ASK", c.ask).Replace(lenientPolicy)
			d := p.run(p.loop(policy), p.turn("t"))
			if diff := cmp.Diff([]string{c.said, c.reported}, []string{said(d), strings.Join(d.Notices, "\n")}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if c.after == "" {
				c.after = c.file
			}
			if diff := cmp.Diff(c.after, p.read("plan.md")); diff != "" {
				t.Errorf("the file (-want +got)\n%s", diff)
			}
		})
	}
}
