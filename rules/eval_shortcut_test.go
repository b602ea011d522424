package rules_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/rules"
)

// A shortcut past expr's machine changes no verdict and no trace. It may cost less.
func TestShortcuts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const head = `ralph: 1
facts:
  s: {json: s.json, schema: {properties: {i: {type: integer}, x: {type: number}, t: {type: string}, b: {type: boolean}, o: {type: object}}}}
  open: {json: open.json}
let: {again: s.i}
rules:
  - name: probe
    notice: it holds
    when: `
	worlds := map[string]map[string]rules.Value{
		"full":    {"s": is(object{"i": 2, "x": 2.0, "t": "2", "b": true, "o": object{"k": 2}}), "open": is(object{"i": 2, "x": 2.0, "t": "2", "b": true, "o": object{"k": 2}})},
		"other":   {"s": is(object{"i": 3, "x": 2.5, "t": "", "b": false, "o": object{}}), "open": is(object{"i": "2", "x": nil, "t": 2, "o": []any{1}})},
		"empty":   {"s": is(object{}), "open": is(object{})},
		"damaged": {"s": with(is(object{"x": 2.0}), "/i", "/t"), "open": invalid},
		"missing": {},
	}
	sides := []string{
		"2", "'2'", "true", "s.i", "s.x", "s.t", "s.b", "s.o.k", "open.i", "open.x", "open.t", "open.b", "open.o.k", "open.none", "again",
		"stop_hook_active", "loop.continuations", "missing(s)",
	}
	compared := 0
	compare := func(condition string) {
		fsys := files{"policy.yaml": head + quoted(condition) + "\n"}.fs()
		p, diags := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{})
		if diags.Err() != nil {
			return
		}
		machine, _ := rules.Load(t.Context(), fsys, "policy.yaml", rules.Config{})
		machine.WithoutShortcuts()
		for name, facts := range worlds {
			quick, slow := (&world{facts: facts}).explain(p), (&world{facts: facts}).explain(machine)
			if diff := cmp.Diff(slow, quick, cmpopts.IgnoreTypes(time.Duration(0), rules.Budget{})); diff != "" {
				t.Errorf("%s over %s (-machine +shortcut)\n%s", condition, name, diff)
			}
			compared++
		}
	}
	for _, left := range sides {
		compare(left)
		for _, right := range sides {
			for _, op := range []string{"==", "!=", "<", "<=", ">", ">="} {
				compare(left + " " + op + " " + right)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d comparisons were made", compared)
	}
}
