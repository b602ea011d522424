package rules_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// FuzzLoad loads any bytes as a policy that may include itself and the guards.
// Nothing makes Load panic; there is a program unless a diagnostic is an error;
// every diagnostic lies inside a file; a hook, which leaves texts uncompiled, finds
// no more errors than a check; what loads satisfies the schema of policies, and can
// be evaluated, the same way twice.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"testdata/diagnostics", "testdata/ok"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil || len(names) == 0 {
			f.Fatal(names, err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Add([]byte(benchPolicy))
	described := policySchema(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		fsys := fstest.MapFS{
			"policy.yaml": {Data: src}, "_guard.yaml": {Data: []byte("ralph: 1\nparams: {limit: {type: integer, default: 1}}\nrules: [{name: a, when: limit > 1, log: '${limit}'}]\n")},
			"_shared.schema.json": {Data: []byte(`{"properties": {"passed": {"type": "boolean", "default": false}}}`)},
		}
		cfg := rules.Config{Shipped: examples.FS}
		p, diags := rules.Load(t.Context(), fsys, "policy.yaml", cfg)
		if (p == nil) != (diags.Err() != nil) {
			t.Fatalf("there is a program: %t\n%s", p != nil, diags.Format())
		}
		for _, d := range diags {
			if d.Pos.File == "policy.yaml" {
				checkDiagnostics(t, fsys, rules.Diagnostics{d})
			}
		}
		// What loads satisfies the schema, but for a number above its ceiling.
		if p != nil && !slices.ContainsFunc(diags, func(d rules.Diagnostic) bool { return d.Check == "limit-ceiling" }) {
			if v := violations(t, described, src); v != nil {
				t.Errorf("it loads, and does not satisfy its schema: %v", v)
			}
		}
		cfg.Lazy = true
		lazy, lazyDiags := rules.Load(t.Context(), fsys, "policy.yaml", cfg)
		if p != nil && lazy == nil {
			t.Fatalf("a check finds nothing, a hook does:\n%s", lazyDiags.Format())
		}
		if lazy == nil {
			return
		}
		w := func() *world { return &world{names: map[string]any{"stop_hook_active": true}} }
		first := w().explain(lazy)
		second := w().eval(lazy)
		if first.Action != second.Action || first.Rule != second.Rule || first.Reason != second.Reason {
			t.Errorf("explained: %s\nnot explained: %s", said(first), said(second))
		}
		if first.Action == rules.Continue && first.Reason == "" {
			t.Error("a continue without a reason")
		}
	})
}

// FuzzExpression loads and evaluates any text as a condition over typed facts.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"n == 1", "any(xs, .k == n)", `t + "x" == t`, "let a = n; a / 0 > 1", "missing(s) ? n : t", "xs[n].k ?? 1 == 1", "not (on and n in [1, 2])",
		"reduce(xs, #acc + .k, 0) == 1", "open.a.b.c == 1", `t matches "a+"`, "1..n", "sortBy(xs, .k)[0] == xs | first()", "#", "s?.n", "{\"a\": n}.a", "f(x)", "n;t",
	} {
		f.Add(seed)
	}
	head := "ralph: 1\nfacts:\n  s: {json: s.json, inline: true, schema: {properties: {n: {type: integer, default: 0}, t: {type: string, default: ''}, on: {type: boolean, default: false}, xs: {type: array, default: [], items: {properties: {k: {type: integer, default: 0}}}}}}}\n  open: {json: open.json}\nrules:\n  - name: a\n    when: "
	f.Fuzz(func(t *testing.T, expr string) {
		fsys := files{"policy.yaml": head + quoted(expr) + "\n    log: x\n"}.fs()
		p, diags := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{})
		checkDiagnostics(t, fsys, diags)
		if p == nil {
			return
		}
		state := is(object{"n": 2, "t": "text", "on": true, "xs": []any{object{"k": 1}, object{"k": 2}}})
		v := (&world{facts: map[string]rules.Value{"s": state, "open": is(object{"a": object{"b": nil}})}}).explain(p)
		// A worse world never makes a condition hold or fail that reads through it.
		lost := (&world{}).explain(p)
		if o := lost.Trace.Steps[0].Outcome; o == rules.Broken && v.Trace.Steps[0].Outcome != rules.Broken {
			t.Errorf("%s is broken over missing facts: %v", expr, lost.Problems)
		}
		if diff := cmp.Diff(len(v.Problems) > 0, v.Trace.Steps[0].Outcome == rules.Broken); diff != "" {
			t.Errorf("%s is %s and told: %v", expr, v.Trace.Steps[0].Outcome, v.Problems)
		}
	})
}
