package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

func policySchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Compile("policy.schema.json", rules.PolicySchema(nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// violations says how a policy is not what its schema wants.
func violations(t testing.TB, s *schema.Schema, src []byte) []string {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		return []string{err.Error()}
	}
	r := s.Check(schema.Document{Value: v})
	var out []string
	for _, w := range append(r.Unusable, r.Warnings...) {
		out = append(out, w.String())
	}
	return out
}

// The schema that editors are pointed at is the one that the tables of the parser make.
func TestShippedPolicySchema(t *testing.T) {
	golden(t, "../schema/shipped/policy.json", string(rules.PolicySchema(nil)))
}

// Every policy that is right satisfies the schema.
func TestPoliciesSatisfyTheirSchema(t *testing.T) {
	s := policySchema(t)
	check := func(fsys fs.FS, names ...string) {
		for _, name := range names {
			src, err := fs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			if v := violations(t, s, src); v != nil {
				t.Errorf("%s:\n%s", name, strings.Join(v, "\n"))
			}
		}
	}
	check(os.DirFS("testdata/ok"), corpus(t, "testdata/ok")...)
	check(examples.FS, shippedPolicies(t)...)
	guards, err := fs.Glob(examples.FS, "guards/*.yaml")
	if err != nil || len(guards) == 0 {
		t.Fatal(guards, err)
	}
	check(examples.FS, guards...)
}

// What the parser refuses for its form, the schema refuses too.
func TestSchemaRefusesWhatTheParserRefuses(t *testing.T) {
	s := policySchema(t)
	tests := []string{
		"", "[]", "rules: []", "ralph: 2",
		"ralph: 1\nrule: []", "ralph: 1\nrules: {a: 1}", "ralph: 1\nrules: [a]", "ralph: 1\nprefix: [a]",
		"ralph: 1\nevents: []", "ralph: 1\nevents: [Stopp]", "ralph: 1\nevents: [Stop, Stop]", "ralph: 1\ngate: some",
		"ralph: 1\nparams: {a: 1}", "ralph: 1\nparams: {a-b: {default: 1}}",
		"ralph: 1\nfacts: {a: {}}", "ralph: 1\nfacts: {a: {json: x, text: y}}", "ralph: 1\nfacts: {a: {text: x, schema: y}}", "ralph: 1\nfacts: {a: {json: x, inline: maybe, schema: {}}}",
		"ralph: 1\nfacts: {a: {glob: x, parse: xml}}", "ralph: 1\nfacts: {a: {glob: x, max: 0}}", "ralph: 1\nfacts: {a: {exec: make}}", "ralph: 1\nfacts: {a: {exec: []}}",
		"ralph: 1\nfacts: {a: {judge: Is it done?}}", "ralph: 1\nfacts: {a: {tasks: codex}}", "ralph: 1\nfacts: {a: {text: x, timeout: 5}}", "ralph: 1\nfacts: {a: {text: x, timeout: soon}}",
		"ralph: 1\nlet: {a: [1]}", "ralph: 1\nlet: [a]", "ralph: 1\nlimits: 5", "ralph: 1\nlimits: {total: too many}", "ralph: 1\nlimits: {total: -1}", "ralph: 1\nlimits: {elapsed: -5m}", "ralph: 1\nlimits: {loops: 1}",
		"ralph: 1\nprogress: []", "ralph: 1\nprogress: {a: 1}",
		"ralph: 1\nrules: [{stop: x}]", "ralph: 1\nrules: [{name: A b, stop: x}]", "ralph: 1\nrules: [{name: a, stop: x, continue: y}]", "ralph: 1\nrules: [{name: a, when: [], stop: x}]",
		"ralph: 1\nrules: [{name: a, when: [[true]], stop: x}]", "ralph: 1\nrules: [{name: a, stop: {x: y}}]", "ralph: 1\nrules: [{name: a, stop: []}]", "ralph: 1\nrules: [{name: a, log: [[x]]}]", "ralph: 1\nrules: [{name: a, note: [{x: y}]}]",
		"ralph: 1\nrules: [{name: a, notice: [x, \" \"]}]", "ralph: 1\nrules: [{name: a, continue: [{when: true}]}]", "ralph: 1\nrules: [{name: a, continue: [{when: [], text: x}]}]", "ralph: 1\nfinally: [{log: []}]",
		"ralph: 1\nrules: [{name: a, stop: null}]", "ralph: 1\nrules: [{name: a, do: x}]",
		"ralph: 1\nrules: [{name: a, then: [{set: a, delete: b}]}]", "ralph: 1\nrules: [{name: a, then: [{prune: {glob: x}}]}]", "ralph: 1\nrules: [{name: a, then: [set]}]",
		"ralph: 1\nrules: [{name: a, note: x, unless_repeated: {within: 5m}}]", "ralph: 1\nrules: [{name: a, note: x, unless_repeated: {times: 0}}]", "ralph: 1\nrules: [{name: a, note: x, unless_repeated: {times: 1, per: day}}]",
		"ralph: 1\nrules: [{include: a, when: true}]", "ralph: 1\nrules: [{include: [a]}]", "ralph: 1\nrules: [{include: a, with: {b: [c]}}]",
		"ralph: 1\nfinally: [{when: true}]", "ralph: 1\nfinally: [{set: a = 1}]",
	}
	for _, src := range tests {
		fsys := files{"policy.yaml": src}.fs()
		if p, _ := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{}); p != nil {
			t.Errorf("the parser accepts %q", src)
		}
		if violations(t, s, []byte(src)) == nil {
			t.Errorf("the schema accepts %q", src)
		}
	}
}

// A number above what is remembered loads with a warning, and the schema reports it too.
func TestSchemaKnowsWhatIsRemembered(t *testing.T) {
	s := policySchema(t)
	for src, want := range map[string][]string{
		"ralph: 1\nrules: [{name: a, continue: x, unless_repeated: {times: 1000}}]": nil,
		"ralph: 1\nrules: [{name: a, continue: x, unless_repeated: {times: 1001}}]": {"rules"},
	} {
		got := violations(t, s, []byte(src))
		if len(got) != len(want) {
			t.Errorf("%s:\n%s", src, strings.Join(got, "\n"))
		}
	}
}

// Every key that the parser reports as unknown, in every object of the corpus, the
// schema reports too.
func TestSchemaRefusesUnknownKeys(t *testing.T) {
	s := policySchema(t)
	names, err := filepath.Glob("testdata/diagnostics/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range names {
		_, diags := rules.Load(t.Context(), os.DirFS("testdata/diagnostics"), filepath.Base(name), rules.Config{Shipped: examples.FS})
		for _, d := range diags {
			if d.Check != "unknown-key" || d.Pos.File != filepath.Base(name) {
				continue
			}
			found++
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if violations(t, s, src) == nil {
				t.Errorf("the schema accepts %s", d)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d unknown keys were found", found)
	}
}

// Sources that a program adds are described like ralph's own.
func TestSchemaOfOwnSources(t *testing.T) {
	own := rules.SourceKind{Name: "redis", Doc: "A key of a database.", Schema: true, Options: []rules.SourceOption{{Name: "db", Kind: "count", Doc: "Which database."}}}
	s, err := schema.Compile("policy", rules.PolicySchema([]rules.SourceKind{own}))
	if err != nil {
		t.Fatal(err)
	}
	for src, ok := range map[string]bool{
		"ralph: 1\nfacts: {a: {redis: key, db: 2, schema: {}}}": true, "ralph: 1\nfacts: {a: {redis: key, db: 0}}": false, "ralph: 1\nfacts: {a: {json: x}}": false,
	} {
		if v := violations(t, s, []byte(src)); (v == nil) != ok {
			t.Errorf("%q: %v", src, v)
		}
	}
	p, diags := rules.Load(t.Context(), policy("facts: {a: {redis: 'k${loop.total}', db: 2, schema: {properties: {n: {type: integer, default: 0}}}}}\nrules: [{name: r, when: a.n == 1, note: x}]\n").fs(), "policy.yaml", rules.Config{Sources: []rules.SourceKind{own}})
	if p == nil {
		t.Fatal(diags.Format())
	}
	w := &world{}
	w.eval(p)
	if diff := cmp.Diff([]string{"a(k0)"}, w.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
