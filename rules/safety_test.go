package rules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// Expressions that would overflow the stack, eat all memory or never end are
// refused when the policy is loaded, or fail when they are evaluated.
func TestHostileExpressions(t *testing.T) {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	tests := []struct{ name, expr, want string }{
		{"a million brackets", many("(", 1_000_000), "the expression is longer than 4096 bytes"},
		{"as many brackets as fit", many("(", 4000), "this bracket is never closed"},
		{"closed ones", many("(", 2000) + "true" + many(")", 2000), ""},
		{"lists within lists", many("[", 2000) + many("]", 2000), "the expression has too many parts"},
		{"unary operators", many("not ", 1000) + "true", "the expression has too many parts"},
		{"a few hundred of them", many("not ", 900) + "true", ""},
		{"minus signs", many("-", 3000) + "1 == 1", "the expression has too many parts"},
		{"conditionals", many("1?", 700) + "true" + many(":1", 700), "the expression has too many parts"},
		{"and after and", many("true and ", 450) + "true", ""},
		{"members", "hook.raw" + many(".a", 400) + " == 1", "error"},
		{"a range", "len(1..1000000000) == 1", "error"},
		{"a range beyond all numbers", "len(-9223372036854775807..9223372036854775807) == 1", "no"},
		{"many ranges", "len([1..90000, 1..90000, 1..90000]) == 1", "error"},
		{"repeat", `repeat("x", 1000000000) == ""`, "error"},
		{"repeat of what is long", `repeat(repeat("x", 1000000), 1000000) == ""`, "error"},
		{"doubling", `let a = "0123456789"; ` + doubling(40) + " == ''", "error"},
		{"doubling lists", `let a = [1]; ` + strings.ReplaceAll(doubling(40), "+", "concat ") + " == []", "syntax"},
		{"join", `join(map(1..100000, "0123456789012345678901234567890123456789"), "") == ""`, "error"},
		{"replace", `replace(repeat("x", 100000), "x", repeat("y", 1000)) == ""`, "error"},
		{"replace of nothing", `replace(repeat("x", 100000), "", repeat("y", 1000)) == ""`, "error"},
		{"reduce", `reduce(1..100000, #acc + "0123456789012345678901234567890123456789", "") == ""`, "error"},
		{"loops within loops", "let r = 1..1000; count(r, count(r, count(r, count(r, true) == 1) == 1) == 1) == 1", "error"},
		{"loops over loops", "let r = 1..100000; count(r, any(r, # < 0)) > 0", "error"},
		{"uniq", "len(uniq(1..100000)) == 1", "error"},
		{"a loop", "count(1..100000, # % 2 == 0) == 50000", "holds"},
		{"two loops", "count(1..300, count(1..300, true) == 300) == 300", "holds"},
		{"a greedy pattern", `repeat("a", 100000) matches "^(a+)+$"`, "holds"},
		{"deep data", "toJSON(" + many(`{"a":`, 300) + "1" + many("}", 300) + `) != ""`, "holds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := rules.Load(policy("rules:\n  - name: a\n    when: |-\n      "+tt.expr+"\n    log: x\n").fs(), "policy.yaml", rules.Config{})
			if p == nil {
				if tt.want == "syntax" {
					return
				}
				if tt.want == "" || !strings.Contains(diags.Error(), tt.want) {
					t.Error(diags)
				}
				return
			}
			got := outcomes(p.Eval(t.Context(), &world{}))[0]
			if want := "a: " + tt.want; tt.want != "" && got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// doubling makes a = a + a of n lines.
func doubling(n int) string {
	var b strings.Builder
	name := "a"
	for i := range n {
		next := fmt.Sprintf("b%d", i)
		fmt.Fprintf(&b, "let %s = %s + %s; ", next, name, name)
		name = next
	}
	return b.String() + name
}

// The context of an evaluation ends the loops in its expressions.
func TestContextEndsLoops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := load(t, policy("rules:\n  - {name: a, when: 'count(1..90000, # in [1, 2]) == 2', log: x}\n")).Eval(ctx, &world{})
	if diff := cmp.Diff([]string{"a: error"}, outcomes(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "context canceled") {
		t.Errorf("told: %v", v.Problems)
	}
}

// What is joined within bounds is what expr itself would make of it.
func TestBoundedFunctionsDoWhatExprDoes(t *testing.T) {
	for _, expr := range []string{
		`"a" + "b" == "ab"`, `s.t + "b" == "tb"`, `s.n + 1 == 4`, `s.x + 1 == 8`, `s.f + s.n == 3.5`, `now() + duration("1h") > now()`,
		`repeat("ab", 3) == "ababab"`, `repeat("", 5) == ""`, `repeat("a", 0) == ""`, `join(["a", "b"], "-") == "a-b"`, `join(["a", "b"]) == "ab"`, `join([], "-") == ""`,
		`join(split("a,b", ","), "+") == "a+b"`, `join(s.list, "+") == "x+y"`, `replace("aaa", "a", "bb") == "bbbbbb"`, `replace("aaa", "a", "", 2) == "a"`,
		`replace("aaa", "", "b") == "bababab" and replace("aaa", "", "b", 2) == "babaa"`, `uniq([1, 1.0, "a", "a", nil, [1], [1], true]) == [1, "a", nil, [1], true]`, `uniq(s.list) == ["x", "y"]`} {
		t.Run(expr, func(t *testing.T) {
			p, diags := rules.Load(policy("facts: {s: {json: s.json}}\nrules:\n  - name: a\n    when: |-\n      "+expr+"\n    log: x\n").fs(), "policy.yaml", rules.Config{})
			if p == nil {
				t.Fatal(diags.Format())
			}
			v := p.Eval(t.Context(), &world{facts: map[string]rules.Value{"s": is(object{"t": "t", "n": 3, "x": 7, "f": 0.5, "list": []any{"x", "y"}})}})
			if diff := cmp.Diff([]string{"a: holds"}, outcomes(v)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, v.Problems)
			}
		})
	}
}

// A program is immutable: many goroutines use it at once, also while its texts and
// operands compile.
func TestConcurrentUse(t *testing.T) {
	var b strings.Builder
	b.WriteString("facts:\n  s: {json: s.json, inline: true, schema: {properties: {n: {type: integer, default: 0}, xs: {type: array, default: [], items: {properties: {k: {type: string, default: \"\"}}}}}}}\nlet: {twice: n * 2}\nlimits: {total: 9}\nrules:\n")
	for i := range 300 { // enough to be compiled in parallel
		fmt.Fprintf(&b, "  - {name: r%d, when: 'said(\"r%d\") or any(xs, .k == \"r%d\") or age(s) > duration(\"%ds\") and twice + %d == 1', stop: \"at ${n} ${loop.repeats} ${transcript.tokens}\"}\n", i, i, i, i+1, i)
	}
	b.WriteString("  - {name: go, continue: 'Go on ${n} ${env.X} ${len(transcript.texts)} ${bullets(map(xs, .k))}', log: '${session_id} ${twice}'}\n")
	for _, lazy := range []bool{true, false} {
		p := loadWith(t, policy(b.String()), rules.Config{LazyTexts: lazy})
		var wg sync.WaitGroup
		got := make([]string, 16)
		for i := range got {
			wg.Go(func() {
				w := &world{
					facts: map[string]rules.Value{"s": is(object{"n": i % 2, "xs": []any{object{"k": "x"}}})},
					names: map[string]any{"said": func(s string) bool { return s == "r250" && i%2 == 1 }, "session_id": "s"},
				}
				for range 3 {
					got[i] = said(p.Explain(t.Context(), w))
				}
			})
		}
		wg.Wait()
		for i, s := range got {
			want := [2]string{"continue go: Go on 0  0 - x", "stop r250: at 1 0 0"}[i%2]
			if s != want {
				t.Errorf("lazy=%t: goroutine %d: got %q, want %q", lazy, i, s, want)
			}
		}
	}
}

// Policies load concurrently too, and alike every time.
func TestLoadIsDeterministic(t *testing.T) {
	f := files{"policy.yaml": strings.ReplaceAll(manyRules(300), "phase == ", "phaze == ")}.fs()
	_, want := rules.Load(f, "policy.yaml", rules.Config{})
	if len(want) != 300 || !slices.IsSortedFunc(want, func(a, b rules.Diagnostic) int { return a.Pos.Line - b.Pos.Line }) {
		t.Fatalf("%d findings", len(want))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, got := rules.Load(f, "policy.yaml", rules.Config{}); !cmp.Equal(want, got) {
				t.Error(cmp.Diff(want, got))
			}
		})
	}
	wg.Wait()
}

// The decision of eight rules whose last one holds costs a handful of allocations.
func TestEvalAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	p, w := benchProgram(t), newConstantWorld()
	ctx := t.Context()
	p.Eval(ctx, w)
	if n := testing.AllocsPerRun(100, func() { p.Eval(ctx, w) }); n > 8 {
		t.Errorf("%v allocations, at most 8 are expected", n)
	}
}
