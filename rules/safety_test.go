package rules_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// Expressions that would overflow the stack, eat all memory or never end are
// refused when the policy is loaded, or end the evaluation once its budget is spent.
func TestHostileExpressions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
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
		{"a range", "len(1..1000000000) == 1", "budget"},
		{"a range beyond all numbers", "len(-9223372036854775807..9223372036854775807) == 1", "budget"},
		{"many ranges", "len([1..90000, 1..90000, 1..90000]) == 3", "holds"},
		{"many large ranges", "len([1..4000000, 1..4000000, 1..4000000]) == 3", "budget"},
		{"repeat", `repeat("x", 1000000000) == ""`, "error"},
		{"repeat of what is long", `repeat(repeat("x", 1000000), 1000000) == ""`, "error"},
		{"doubling", `let a = "0123456789"; ` + doubling(40) + " == ''", "error"},
		{"doubling lists", `let a = [1]; ` + strings.ReplaceAll(doubling(40), "+", "concat ") + " == []", "syntax"},
		{"join", `join(map(1..100000, "0123456789012345678901234567890123456789"), "") == ""`, "error"},
		{"replace", `replace(repeat("x", 100000), "x", repeat("y", 1000)) == ""`, "error"},
		{"replace of nothing", `replace(repeat("x", 100000), "", repeat("y", 1000)) == ""`, "error"},
		{"reduce", `reduce(1..100000, #acc + "0123456789012345678901234567890123456789", "") == ""`, "budget"},
		{"loops within loops", "let r = 1..1000; count(r, count(r, count(r, count(r, true) == 1) == 1) == 1) == 1", "budget"},
		{"loops over loops", "let r = 1..100000; count(r, any(r, # < 0)) > 0", "budget"},
		{"uniq", "len(uniq(1..100000)) == 100000", "holds"},
		{"uniq of lists", "len(uniq(map(1..10000, [#]))) == 10000", "budget"},
		{"a loop", "count(1..100000, # % 2 == 0) == 50000", "holds"},
		{"two loops", "count(1..300, count(1..300, true) == 300) == 300", "holds"},
		{"a greedy pattern", `repeat("a", 100000) matches "^(a+)+$"`, "holds"},
		{"deep data", "toJSON(" + many(`{"a":`, 300) + "1" + many("}", 300) + `) != ""`, "holds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := rules.Load(t.Context(), policy("rules:\n  - name: a\n    when: |-\n      "+tt.expr+"\n    log: x\n").fs(), "policy.yaml", rules.Config{})
			if p == nil {
				if tt.want == "syntax" {
					return
				}
				if tt.want == "" || !strings.Contains(diags.Err().Error(), tt.want) {
					t.Error(diags)
				}
				return
			}
			v := (&world{}).eval(p)
			got := strings.TrimPrefix(outcomes(v)[0], "a: ")
			if v.Cause != "" {
				got = string(v.Cause)
			}
			if tt.want != "" && got != tt.want {
				t.Errorf("got %s, want %s: %v", got, tt.want, v.Problems)
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

// A context that is done ends the evaluation, also within an expression, and the agent
// may stop. It is reported once, with its place.
func TestContextEndsEvaluation(t *testing.T) {
	p := load(t, policy("rules:\n  - {name: a, when: 'stop_hook_active or count(1..90000, # > 0) == 2', log: x}\n  - {name: b, continue: Go on}\n"))
	why := errors.New("the host has no time")
	for _, tt := range []struct {
		name  string
		facts func(context.CancelCauseFunc) rules.Facts
		want  string
		tried []string
	}{
		{
			"before it begins",
			func(cancel context.CancelCauseFunc) rules.Facts { cancel(why); return &world{} },
			"the evaluation was interrupted: the host has no time",
			nil,
		},
		{
			"while it asks",
			func(cancel context.CancelCauseFunc) rules.Facts { return asking{func() { cancel(why) }} },
			"policy.yaml:3:42: count(1..90000, # > 0) == 2: the evaluation was interrupted: the host has no time",
			[]string{"a: error"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			v := p.Eval(ctx, tt.facts(cancel), rules.Options{})
			want := &rules.Verdict{Cause: "context", Reason: "the evaluation was interrupted: the host has no time", Problems: problems(tt.want)}
			if diff := cmp.Diff(want, decided(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.tried, outcomes(v)); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// asking is an empty world that calls a function when a name is read.
type asking struct{ do func() }

func (asking) Fact(context.Context, *rules.Fact, []string) rules.Value {
	return rules.Value{Status: rules.Missing}
}
func (a asking) Name(context.Context, string) any { a.do(); return nil }

// Within bounds, the bounded functions return what expr itself would.
func TestBoundedFunctionsDoWhatExprDoes(t *testing.T) {
	for _, expr := range []string{
		`"a" + "b" == "ab"`, `s.t + "b" == "tb"`, `s.n + 1 == 4`, `s.x + 1 == 8`, `s.f + s.n == 3.5`, `now() + duration("1h") > now()`,
		`repeat("ab", 3) == "ababab"`, `repeat("", 5) == ""`, `repeat("a", 0) == ""`, `join(["a", "b"], "-") == "a-b"`, `join(["a", "b"]) == "ab"`, `join([], "-") == ""`,
		`join(split("a,b", ","), "+") == "a+b"`, `join(s.list, "+") == "x+y"`, `replace("aaa", "a", "bb") == "bbbbbb"`, `replace("aaa", "a", "", 2) == "a"`,
		`replace("aaa", "", "b") == "bababab" and replace("aaa", "", "b", 2) == "babaa"`, `uniq([1, 1.0, "a", "a", nil, [1], [1], true]) == [1, "a", nil, [1], true]`, `uniq(s.list) == ["x", "y"]`} {
		t.Run(expr, func(t *testing.T) {
			p, diags := rules.Load(t.Context(), policy("facts: {s: {json: s.json}}\nrules:\n  - name: a\n    when: |-\n      "+expr+"\n    log: x\n").fs(), "policy.yaml", rules.Config{})
			if p == nil {
				t.Fatal(diags.Format())
			}
			v := (&world{facts: map[string]rules.Value{"s": is(object{"t": "t", "n": 3, "x": 7, "f": 0.5, "list": []any{"x", "y"}})}}).eval(p)
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
	for i := range 300 {
		fmt.Fprintf(&b, "  - {name: r%d, when: 'said(\"r%d\") or any(xs, .k == \"r%d\") or age(s) > duration(\"%ds\") and twice + %d == 1', stop: \"at ${n} ${loop.repeats} ${transcript.tokens}\"}\n", i, i, i, i+1, i)
	}
	b.WriteString("  - {name: go, continue: 'Go on ${n} ${env.X} ${len(transcript.texts)} ${bullets(map(xs, .k))}', log: '${session_id} ${twice}'}\n")
	for _, lazy := range []bool{true, false} {
		p := loadWith(t, policy(b.String()), rules.Config{Lazy: lazy})
		var wg sync.WaitGroup
		got := make([]string, 16)
		for i := range got {
			wg.Go(func() {
				w := &world{
					facts: map[string]rules.Value{"s": is(object{"n": i % 2, "xs": []any{object{"k": "x"}}})},
					names: map[string]any{"said": func(s string) bool { return s == "r250" && i%2 == 1 }, "session_id": "s"},
				}
				for range 3 {
					got[i] = said(w.explain(p))
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
	_, want := rules.Load(t.Context(), f, "policy.yaml", rules.Config{})
	if len(want) != 250 || !slices.IsSortedFunc(want, func(a, b rules.Diagnostic) int { return a.Pos.Line - b.Pos.Line }) {
		t.Fatalf("%d findings", len(want))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, got := rules.Load(t.Context(), f, "policy.yaml", rules.Config{}); want.Format() != got.Format() {
				t.Error(cmp.Diff(want.Format(), got.Format()))
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
	p.Eval(ctx, w, rules.Options{})
	if n := testing.AllocsPerRun(100, func() { p.Eval(ctx, w, rules.Options{}) }); n > 8 {
		t.Errorf("%v allocations, at most 8 are expected", n)
	}
}
