package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// A source gets all paths of a list that can be evaluated. Without the last one the fact is
// missing, as it is without its only path.
func TestPathsOfAFact(t *testing.T) {
	const policy = `
facts:
  base: {text: base}
  f: {text: ["${session_id}.md", "${base}/x.md", all.md]}
  g: {text: [all.md, "${session_id}.md"]}
rules:
  - {name: f, when: missing(f), stop: "f ${problem(f)}"}
  - {name: g, when: missing(g), stop: "g ${problem(g)}"}
`
	for _, tt := range []struct {
		session, base string
		want          []string // what sources are asked
		said          string
	}{
		{"s1", "docs", []string{"base(base)", "f(s1.md, docs/x.md, all.md)", "g(all.md, s1.md)"}, "stop"},
		{"s1", "", []string{"base(base)", "f(s1.md, all.md)", "g(all.md, s1.md)"}, "stop"},
		{"", "docs", []string{"base(base)", "f(docs/x.md, all.md)"}, "stop g: g ${session_id} is empty"},
		{"../s1", "docs", []string{"base(base)", "f(docs/x.md, all.md)"}, "stop g: g ${session_id} leaves its folder: ../s1"},
	} {
		w := &world{names: map[string]any{"session_id": tt.session}, facts: map[string]rules.Value{"f": is("x"), "g": is("x")}}
		if tt.base != "" {
			w.facts["base"] = is(tt.base)
		}
		v := decide(t, policy, w)
		if diff := cmp.Diff(tt.want, w.asked); diff != "" || said(v) != tt.said {
			t.Errorf("session %q: %q, asked (-want +got):\n%s", tt.session, said(v), diff)
		}
	}
}
