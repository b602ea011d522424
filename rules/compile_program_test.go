package rules_test

import (
	"testing"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/rules"
)

// Commands that have no event know the file of a fact if its path has no holes.
func TestFactFile(t *testing.T) {
	fsys := fstest.MapFS{"p.yaml": {Data: []byte(`ralph: 1
facts:
  run: {frontmatter: .claude/loop.md, inline: true, schema: {properties: {active: {type: boolean, default: true}}}}
  name: {text: .name}
  state: {json: "specs/${name}/state.json"}
  many: {glob: "*.json"}
  status: {exec: [git, status]}
rules:
  - name: on
    when: active and ok(state) and ok(many) and ok(status)
    continue: go on
    unless_repeated: {times: 1}
`)}}
	p, diags := rules.Load(t.Context(), fsys, "p.yaml", rules.Config{})
	if p == nil {
		t.Fatal(diags)
	}
	want := map[string]string{"run": ".claude/loop.md", "name": ".name"}
	for _, f := range p.Facts() {
		path, ok := f.File()
		if path != want[f.Name] || ok != (want[f.Name] != "") {
			t.Errorf("%s: %q, %v", f.Name, path, ok)
		}
	}
	if f := p.Inline(); f == nil || f.Name != "run" {
		t.Errorf("inline is %v", f)
	}
}
