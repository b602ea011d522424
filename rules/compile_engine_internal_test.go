package rules

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	exprcompiler "github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-sdk/ralph/schema"
)

// This file is the alarm for upgrades of expr: expr.go relies on packages that are
// public but not stable. When it fails, read expr.go beside expr's changes before
// anything else; a policy must mean tomorrow what it means today.
func TestExprUpgrade(t *testing.T) {
	stateType := &schema.Schema{Kind: schema.Object, Fields: map[string]*schema.Schema{
		"n": {Kind: schema.Int}, "t": {Kind: schema.String}, "on": {Kind: schema.Bool}, "any": {},
		"xs": {Kind: schema.Array, Elem: &schema.Schema{Kind: schema.Object, Fields: map[string]*schema.Schema{"k": {Kind: schema.Int}}}},
	}}
	env := map[string]any{"s": map[string]any{"n": 3, "t": "x", "on": true, "xs": []any{map[string]any{"k": 1}}}}
	metered := func() map[string]any { // a budget for one run
		var m meter
		m.begin(t.Context(), Budget{})
		e := maps.Clone(env)
		e[meterKey] = &m
		return e
	}
	newS := func() *engine {
		e := newEngine(LoadLimits{}.filled().Patterns)
		e.declare("s", natureOf(stateType))
		return e
	}
	build := func(e *engine, src string) (*vm.Program, *exprError) {
		tree, err := e.parse(src)
		if err != nil {
			return nil, err
		}
		if _, err := e.check(tree); err != nil {
			return nil, err
		}
		return e.compile(tree)
	}

	t.Run("a name is read as the parser reads it", func(t *testing.T) {
		words := append([]string{
			"", "s", "state", "_", "a1", "taskIndex", "A_b", "true", "false", "nil", "not", "in", "or", "and", "matches", "contains",
			"startsWith", "endsWith", "let", "if", "else", "True", "null", "1", "1a", "a b", " a", "a ", "a.b", "#", "$env", "$x", "ä", "nä",
		}, builtin.Names...)
		names := 0
		for _, word := range words {
			e := newS()
			want, wantErr := exprparser.ParseWithConfig(word, e.conf)
			got, gotErr := e.parse(word)
			if (wantErr != nil) != (gotErr != nil) {
				t.Errorf("%q: %v, want %v", word, gotErr, wantErr)
			}
			if wantErr != nil || gotErr != nil {
				continue
			}
			if ast.Dump(got.Node) != ast.Dump(want.Node) || got.Node.Location() != want.Node.Location() || got.Source.String() != want.Source.String() {
				t.Errorf("%q: %s, want %s", word, ast.Dump(got.Node), ast.Dump(want.Node))
			}
			if isName(word) {
				names++
			}
		}
		if names < 10 {
			t.Errorf("only %d names among the words", names)
		}
	})
	t.Run("one configuration serves many expressions", func(t *testing.T) {
		e := newS()
		for i := range 200 {
			p, err := build(e, fmt.Sprintf("s.n + %d == %d", i, i+3))
			if err != nil {
				t.Fatal(err.message)
			}
			if v, err := run(new(vm.VM), p, metered()); err != nil || v != true {
				t.Fatal(v, err)
			}
		}
	})
	t.Run("the table of builtins is not copied for every expression", func(t *testing.T) {
		e := newS()
		before := reflect.ValueOf(e.conf.Builtins).Pointer()
		if n := testing.AllocsPerRun(20, func() { build(e, "s.n == 1") }); n > 60 {
			t.Errorf("%v allocations for one small expression", n)
		}
		if reflect.ValueOf(e.conf.Builtins).Pointer() != before {
			t.Error("the table is another one")
		}
	})
	t.Run("declared objects are strict", func(t *testing.T) {
		for src, want := range map[string]string{
			"s.m == 1": "unknown field m", "s.n == 'x'": "invalid operation: == (mismatched types int and string)", "x": "unknown name x",
			"s.xs[0].j == 1": "unknown field j", "s.on + 1": "invalid operation: + (mismatched types bool and int)",
		} {
			if _, err := build(newS(), src); err == nil || err.message != want {
				t.Errorf("%s: got %v, want %s", src, err, want)
			}
		}
		if _, err := build(newS(), "s.any.whatever == 1"); err != nil {
			t.Errorf("a field of no type is checked: %s", err.message)
		}
	})
	t.Run("locations count runes from the start of the expression", func(t *testing.T) {
		for src, want := range map[string][2]int{`"äöü" == s.m`: {11, 12}, "s.n\n == \n'é' + s.m": {17, 18}, "'é' ~ 1": {4, 5}} {
			if _, err := build(newS(), src); err == nil || err.from != want[0] || err.to != want[1] {
				t.Errorf("%q: %+v, want %v", src, err, want)
			}
		}
		tree, _ := newS().parse("'é' == s.t and  len( s.xs ) > 1")
		runes := []rune("'é' == s.t and  len( s.xs ) > 1")
		b := tree.Node.(*ast.BinaryNode)
		for n, want := range map[ast.Node]string{b.Left: "'é' == s.t", b.Right: "len( s.xs ) > 1", b.Right.(*ast.BinaryNode).Left: "len( s.xs )"} {
			if from, to := spanOf(runes, n); string(runes[from:to]) != want {
				t.Errorf("the span is %q, want %q", string(runes[from:to]), want)
			}
		}
	})
	t.Run("the span of an operand has the brackets that it begins with", func(t *testing.T) {
		for _, src := range []string{"(s.on ? s.m : 1) < 1", "( (s.m) + 1) * 2 > 3", "s.t == 'x)'", "[1, 2][0] == s.m", "now()", "3 < now().Hour( )", "(s.m + 1) > f()"} {
			tree, _ := newS().parse("s.on and " + src)
			runes := []rune("s.on and " + src)
			if from, to := spanOf(runes, tree.Node.(*ast.BinaryNode).Right); string(runes[from:to]) != src {
				t.Errorf("the span is %q, want %q", string(runes[from:to]), src)
			}
		}
	})
	t.Run("what the optimizer skips changes no value", func(t *testing.T) {
		// broken fails where .k is no number: an expression that skips it has a value, of the elements before it.
		const broken = `[{"k": 1}, {"k": 2}, {"k": "x"}, {"k": 3}]`
		for _, tt := range []struct {
			src   string
			skips string // the value over the broken list; "" fails there as it does without the optimizer
		}{
			{"count(LIST, .k > 0) > 0", "true"},
			{"count(LIST, .k > 0) >= 1", "true"},
			{"len(filter(LIST, .k > 0)) > 0", "true"},
			{"count(LIST, .k > 0) > 1", "true"},
			{"count(LIST, .k > 0) >= 2", "true"},
			{"count(LIST, .k > 0) < 2", "false"},
			{"count(LIST, .k > 0) <= 1", "false"},
			{"filter(LIST, .k > 0)[0].k", "1"},
			{"first(filter(LIST, .k > 0)).k", ""},
			{"filter(LIST, .k > 0)[-1].k", "3"},
			{"last(filter(LIST, .k > 0)).k", ""},
			{"all(LIST, .k > 0) and all(LIST, .k < 2)", "false"}, // one walk, in which both are asked of each element
			{"any(LIST, .k > 9) or any(LIST, .k < 9)", "true"},
			{"none(LIST, .k > 9) and none(LIST, .k == 2)", "false"},
			{"count(LIST, .k > 0) == 1", ""},
			{"count(LIST, .k > 0)", ""},
			{"len(filter(LIST, .k > 0))", ""},
			{"map(filter(LIST, .k > 1), .k)", ""},
			{"sum(map(LIST, .k))", ""},
			{"sum(LIST, .k)", ""},
			{"[1, 2, 1][1] in [1, 2]", "true"},
			{"2 in 1..3", "true"},
		} {
			value := func(src string, optimized bool) string {
				e := newEngine(LoadLimits{}.filled().Patterns)
				tree, err := e.parse(src)
				if err == nil {
					_, err = e.check(tree)
				}
				var p *vm.Program
				if err == nil && optimized {
					p, err = e.compile(tree)
				}
				if err != nil {
					t.Fatalf("%s: %v", src, err)
				}
				if !optimized {
					e.meter(&tree.Node)
					var failed error
					if p, failed = exprcompiler.Compile(tree, e.conf); failed != nil {
						t.Fatalf("%s: %v", src, failed)
					}
				}
				v, err := run(&vm.VM{}, p, metered())
				if err != nil {
					return ""
				}
				return fmt.Sprint(v)
			}
			whole := strings.ReplaceAll(tt.src, "LIST", strings.ReplaceAll(broken, `"x"`, "4"))
			if got, want := value(whole, true), value(whole, false); got != want || got == "" {
				t.Errorf("%s is %q, and without the optimizer %q", whole, got, want)
			}
			if !strings.Contains(tt.src, "LIST") {
				continue
			}
			part := strings.ReplaceAll(tt.src, "LIST", broken)
			if got, want := value(part, true), value(part, false); got != tt.skips || want != "" {
				t.Errorf("%s is %q, want %q, and without the optimizer %q", part, got, tt.skips, want)
			}
		}
	})

	t.Run("a machine is used again, also after an error", func(t *testing.T) {
		e, machine := newS(), new(vm.VM)
		good, _ := build(e, "count(s.xs, .k == 1) == 1")
		bad, _ := build(e, "any(s.xs, .k == s.xs[5].k)")
		for range 3 {
			if _, err := run(machine, bad, metered()); err == nil {
				t.Error("there is no error")
			}
			if v, err := run(machine, good, metered()); err != nil || v != true {
				t.Errorf("%v, %v", v, err)
			}
		}
	})
	t.Run("what the meter ends is an error, and the machine is used again", func(t *testing.T) {
		e, machine := newS(), new(vm.VM)
		huge, _ := build(e, fmt.Sprintf("len(map(1..%d, #)) > 0", defaultSteps/2))
		fits, _ := build(e, "len(map(1..1000, #)) == 1000")
		for range 3 {
			if _, err := run(machine, huge, metered()); err == nil || !strings.Contains(err.message, errSteps.Error()) {
				t.Errorf("%v", err)
			}
			if v, err := run(machine, fits, metered()); err != nil || v != true {
				t.Errorf("%v, %v", v, err)
			}
		}
	})
	t.Run("a million brackets would overflow the stack, so the length is capped first", func(t *testing.T) {
		if _, err := newS().parse(strings.Repeat("(", 1_000_000)); err == nil || !strings.Contains(err.message, "longer than") {
			t.Error(err)
		}
	})
	t.Run("functions of ralph's own override builtins", func(t *testing.T) {
		e := newS()
		for _, name := range []string{"repeat", "join", "replace", "uniq"} {
			if !e.hasFunction(name) || builtin.Index[name] == 0 && builtin.Builtins[0].Name != name {
				t.Errorf("%s is no longer a builtin, or not overridden", name)
			}
		}
		tree, _ := e.parse("repeat('a', 3)")
		if _, ok := tree.Node.(*ast.CallNode); !ok {
			t.Errorf("the call is a %T", tree.Node)
		}
	})
	t.Run("the builtins are those that were looked at", func(t *testing.T) {
		// A new one may make texts or lists of any size: see functions.go and quick.
		if n := len(builtin.Builtins); n != 71 {
			t.Errorf("there are %d", n)
		}
		if n := len(conf.CreateNew().Builtins); n != len(builtin.Builtins) {
			t.Errorf("%d of them are enabled", n)
		}
	})
	t.Run("all kinds of nodes are known", func(t *testing.T) {
		e := newS()
		e.conf.Strict = false
		for _, src := range []string{
			"-a", "a + b", "a?.b.c", "a[1]", "a[1:2]", "a[:2]", "f(a, b)", "len(a)", "map(a, # + b)", "a ? b : c", "let x = a; x + b", "a; b",
			"[a, b]", "{(a): b}", "if a {b} else {c}", "a | map(#)", "a not in b", "a ?? b", "#acc", "reduce(a, #acc + #, b)",
		} {
			tree, err := e.parse(src)
			if err != nil {
				continue
			}
			want := map[string]bool{}
			ast.Walk(&tree.Node, visitor(func(n ast.Node) {
				if id, ok := n.(*ast.IdentifierNode); ok {
					want[id.Value] = true
				}
			}))
			got := map[string]bool{}
			var walk func(*ast.Node)
			walk = func(n *ast.Node) {
				if id, ok := (*n).(*ast.IdentifierNode); ok {
					got[id.Value] = true
				}
				children(*n, walk)
			}
			walk(&tree.Node)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", src, diff)
			}
		}
	})
}

type visitor func(ast.Node)

func (v visitor) Visit(n *ast.Node) { v(*n) }

// memoryFacts is the least that an evaluation needs: facts with values.
type memoryFacts map[string]any

func (m memoryFacts) Fact(_ context.Context, f *Fact, _ []string) Value {
	return Value{V: m[f.Name], Path: "x", Version: "1"}
}
func (m memoryFacts) Name(context.Context, string) any { return nil }

// If nothing is unknown, ralph's skeleton with its own comparisons returns exactly what
// expr returns for the whole expression.
func TestSkeletonAgreesWithExpr(t *testing.T) {
	type env = map[string]any
	src := `ralph: 1
facts:
  s:
    json: s.json
    inline: true
    schema:
      properties:
        a: {type: integer, default: 0}
        b: {type: integer, default: 0}
        t: {type: string, default: ""}
        u: {type: string, default: ""}
        p: {type: boolean, default: false}
        q: {type: boolean, default: false}
        xs: {type: array, items: {type: integer}, default: []}
        x: {}
rules:
  - name: probe
    when: |-
      EXPR
    log: x
`
	operand := rapid.SampledFrom([]string{
		"p", "q", "true", "false", "s.p", "a == b", "a < b", "s.a >= b", "a != 3", "t == u", `t < "m"`, `t != ""`, "p == q", "p != true", "x == a", "x == nil", "x == t",
		"a in xs", "len(xs) > a", "any(xs, # == a)", "all(xs, # > b)", `t contains "a"`, "a + b == 4", "a * 2 > b", `t + u == "ab"`, "xs == [1, 2]", "(p ? a : b) == 1", "(x ?? 1) == 1",
		"let z = a; z == b", "count(xs, # == a) < b", "not p == q", "a % 2 == 0", "s?.a == b",
	})
	var expression func(depth int) *rapid.Generator[string]
	expression = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			if depth == 0 {
				return operand.Draw(t, "operand")
			}
			sub := expression(depth - 1)
			switch rapid.IntRange(0, 7).Draw(t, "shape") {
			case 0:
				return "not (" + sub.Draw(t, "x") + ")"
			case 1:
				return "(" + sub.Draw(t, "x") + ") ? (" + sub.Draw(t, "y") + ") : (" + sub.Draw(t, "z") + ")"
			case 2, 3:
				return "(" + sub.Draw(t, "x") + ") or (" + sub.Draw(t, "y") + ")"
			case 4, 5:
				return "(" + sub.Draw(t, "x") + ") and (" + sub.Draw(t, "y") + ")"
			}
			return operand.Draw(t, "operand")
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		text := expression(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "expression")
		small := rapid.IntRange(0, 4)
		word := rapid.SampledFrom([]string{"", "a", "b", "z"})
		state := env{
			"a": small.Draw(t, "a"), "b": small.Draw(t, "b"), "t": word.Draw(t, "t"), "u": word.Draw(t, "u"),
			"p": rapid.Bool().Draw(t, "p"), "q": rapid.Bool().Draw(t, "q"),
			"xs": rapid.SliceOfN(rapid.Map(small, func(i int) any { return i }), 0, 3).Draw(t, "xs"),
			"x":  rapid.SampledFrom([]any{nil, 1, 2.0, "a", true, []any{1}}).Draw(t, "any"),
		}
		p, diags := Load(context.Background(), fstest.MapFS{"p.yaml": {Data: []byte(strings.Replace(src, "EXPR", text, 1))}}, "p.yaml", Config{})
		if p == nil {
			t.Fatal(diags.Format())
		}
		got := p.Eval(context.Background(), memoryFacts{"s": state}, Options{}).Trace.Steps[0].Outcome

		whole := env{"s": state}
		for k, v := range state {
			whole[k] = v
		}
		want := Broken
		program, err := expr.Compile(text, expr.DisableBuiltin("now"))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := expr.Run(program, whole); err == nil {
			want = No
			if v == true {
				want = Holds
			}
		}
		if got != want {
			t.Fatalf("%s over %v: got %s, expr says %s", text, state, got, want)
		}
	})
}
