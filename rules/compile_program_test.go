package rules_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// Commands that have no event know the file of a fact if its path has no placeholders.
func TestFactFile(t *testing.T) {
	fsys := fstest.MapFS{"p.yaml": {Data: []byte(`ralph: 1
facts:
  run: {frontmatter: .claude/loop.md, inline: true, schema: {properties: {active: {type: boolean, default: true}}}}
  name: {text: .name}
  state: {json: "specs/${name}/state.json"}
  only: {checklist: "todo/${session_id}.md"}
  many: {glob: "*.json"}
  status: {exec: [git, status]}
rules:
  - name: on
    when: active and ok(state) and ok(many) and ok(status) and ok(only)
    continue: go on
    unless_repeated: {times: 1}
`)}}
	p, diags := rules.Load(t.Context(), fsys, "p.yaml", rules.Config{})
	if p == nil {
		t.Fatal(diags)
	}
	want := map[string]string{"run": ".claude/loop.md", "name": ".name"}
	for _, f := range p.Facts() {
		if f.File != want[f.Name] {
			t.Errorf("%s: %q", f.Name, f.File)
		}
	}
}

// Files lists everything that the program was compiled from: changing a schema changes
// the policy. A fact shows its arguments as they are in the policy.
func TestProgramFiles(t *testing.T) {
	fsys := fstest.MapFS{
		"p.yaml": {Data: []byte(`ralph: 1
params: {model: {type: string, default: small}}
facts:
  check: {exec: [./check.sh, "${model}", "${session_id}", "a${model}b"], schema: schemas/check.json}
  same: {json: x.json, schema: schemas/check.json}
  verdict: {judge: "Done, ${model}?", model: "${model}", api: openai, returns: schemas/answer.json}
rules:
  - {include: part}
  - {name: on, when: check.code == 0 and ok(same) and ok(verdict), continue: go on, unless_repeated: {times: 1}}
`)},
		"part.yaml":           {Data: []byte("ralph: 1\nfacts: {own: {json: y.json, schema: schemas/own.json}}\nrules: [{name: own, when: missing(own), note: none}]")},
		"schemas/check.json":  {Data: []byte(`{"properties": {"a": {"type": "string"}}}`)},
		"schemas/answer.json": {Data: []byte(`{"properties": {"b": {"type": "string"}}}`)},
		"schemas/own.json":    {Data: []byte(`{"properties": {"c": {"type": "string"}}}`)},
	}
	p, diags := rules.Load(t.Context(), fsys, "p.yaml", rules.Config{})
	if p == nil {
		t.Fatal(diags)
	}
	var names []string
	for _, f := range p.Files() {
		names = append(names, f.Name)
		if string(f.Src) != string(fsys[f.Name].Data) {
			t.Errorf("%s holds %q", f.Name, f.Src)
		}
	}
	if diff := cmp.Diff([]string{"p.yaml", "schemas/check.json", "schemas/answer.json", "part.yaml", "schemas/own.json"}, names); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	type shown struct {
		Args  []string
		Texts map[string]string
		Known []string
	}
	got := map[string]shown{}
	for _, f := range p.Facts() {
		got[f.Name] = shown{f.Args, f.Texts, f.Known}
	}
	want := map[string]shown{
		"check": {Args: []string{"./check.sh", "${model}", "${session_id}", "a${model}b"}, Known: []string{"./check.sh", "small", "", "asmallb"}}, "same": {Args: []string{"x.json"}}, "part/own": {Args: []string{"y.json"}},
		"verdict": {Args: []string{"Done, ${model}?"}, Texts: map[string]string{"model": "${model}"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got)\n%s", diff)
	}
}
