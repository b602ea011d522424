package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

func TestOutline(t *testing.T) {
	const src = `ralph: 1
when: session_id != "" and env.OFF == ""
facts:
  pointer: {text: pointer}
  state: {json: "${pointer}.json", inline: true, schema: {properties: {on: {type: boolean, default: true}, owner: {type: string, default: ""}, n: {type: integer, default: 0}}}}
  list: {checklist: list.md}
  other: {text: other.md}
loop: {state: state, on: on, owner: owner}
let:
  far: n > 3 or len(list) > 2
rules:
  - name: far
    when: [far, "n > 5 or n < 0"]
    stop: "${pointer} is far"
    then: [{archive: state}]
  - name: remember
    then: [{set: state.n = len(list)}]
  - name: always
    continue: [{when: [other != "", "n > 1 or on"], text: "${n}"}, "on"]
`
	p, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), rules.Config{})
	if p == nil {
		t.Fatal(diags.Err())
	}
	type passage = struct{ When, Text string }
	want := []rules.Outline{
		{Kind: "when", When: `session_id != "" and env.OFF == ""`, Operands: []string{`session_id != ""`, `env.OFF == ""`}},
		{Kind: "on", When: "on", Operands: []string{"on"}, Reads: []string{"state"}},
		{Kind: "state", Name: "state", Reads: []string{"state"}},
		{Kind: "owner", When: "owner", Operands: []string{"owner"}, Reads: []string{"state"}},
		{Kind: "rule", Name: "far", When: "far and (n > 5 or n < 0)", Operands: []string{"far", "n > 5", "n < 0"}, Text: []passage{{"", "${pointer} is far"}}, Effects: []string{"archive: state"}, Reads: []string{"state", "list"}, Shows: []string{"pointer"}},
		{Kind: "rule", Name: "remember", Effects: []string{"set: state.n = len(list)"}, Shows: []string{"list"}},
		{Kind: "rule", Name: "always", Text: []passage{{`other != "" and (n > 1 or on)`, "${n}"}, {"", "on"}}, Shows: []string{"other", "state"}},
		{Kind: "fact", Name: "pointer"},
		{Kind: "fact", Name: "state", Reads: []string{"pointer"}},
		{Kind: "fact", Name: "list"},
		{Kind: "fact", Name: "other"},
	}
	if diff := cmp.Diff(want, p.Outline()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
