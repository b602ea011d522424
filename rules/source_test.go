package rules_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// vault is a source whose values must not be in a trace.
func vault() rules.SourceKind {
	return rules.SourceKind{Name: "vault", Doc: "Secrets.", Private: true, Schema: true}
}

// The trace shows only how large the values of a private source are, even if one does not
// fit its schema or passes through a let.
func TestPrivateSource(t *testing.T) {
	p := loadWith(t, policy(`
facts:
  login: {vault: main, schema: {properties: {key: {type: string}, tries: {type: integer}, kind: {enum: [a, b]}}}}
  state: {json: state.json}
let: {handed: "login.key + '!'"}
rules:
  - {name: one, when: handed startsWith "no", stop: never}
  - {name: two, when: login.tries > 3, note: never}
  - name: three
    when: login.key != "other" and len(keys(login)) > 0
    continue: the key is ${login.key}
    notice: ${handed}
    then: [{set: state.key = login.key}]
finally: [{log: "with ${login.key}"}]
`), rules.Config{Shipped: examples.FS, Sources: []rules.SourceKind{vault()}})
	w := &world{facts: map[string]rules.Value{
		"login": {
			V:        object{"key": "hunter2", "tries": nil, "kind": "hunter2"},
			Unusable: []schema.Violation{{Pointer: "/tries", Message: `is "hunter2", expected integer`}},
			Warnings: []schema.Violation{{Pointer: "/kind", Message: `is "hunter2", expected a or b`}},
			Meta:     map[string]any{"shelf": 3},
		},
		"state": is(object{"key": ""}),
	}}
	v := p.Eval(t.Context(), w, rules.Options{Trace: rules.TraceFull})
	if want := "continue three: the key is hunter2"; said(v) != want {
		t.Fatalf("it says %q, want %q", said(v), want)
	}
	trace, err := json.Marshal(v.Trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(masked(v), string(trace)) {
		if strings.Contains(text, "hunter") {
			t.Errorf("it shows the secret: %s", text)
		}
	}
	if !strings.Contains(string(trace), "(7 bytes)") || !strings.Contains(string(trace), `"meta":{"shelf":3}`) {
		t.Errorf("it shows neither size nor meta: %s", trace)
	}
	if !v.Parts[0].Private || !v.Finally[0].Private {
		t.Errorf("the texts are not marked private: %+v", v)
	}
	clear := p.Eval(t.Context(), w, rules.Options{Trace: rules.TraceClear})
	if trace, err = json.Marshal(clear.Trace); err != nil || strings.Contains(string(trace), "hunter2") {
		t.Errorf("a clear trace shows the secret: %s", trace)
	}
}

// The effects of a rule name the facts that they change, each once.
func TestChanges(t *testing.T) {
	p := load(t, policy(`
facts: {a: {json: a.json}, b: {text: b.txt}, c: {json: c.json}}
rules:
  - name: go
    continue: on
    then: [{set: a.n = 1}, {set: a.m = 2}, {delete: b}, {prune: {glob: "*.tmp", older: 1h}}]
  - {name: end, stop: now}
`))
	got := map[string][]string{}
	for _, r := range p.Rules() {
		for _, f := range r.Changes {
			got[r.Name] = append(got[r.Name], f.Name)
		}
	}
	if diff := cmp.Diff(map[string][]string{"go": {"a", "b"}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
