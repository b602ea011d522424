package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// fields looks in the when of a rule for fields that may be absent and are used
// where nothing is an error.
func (a *analyzer) fields(i int) {
	guarded := map[string]bool{} // paths that the when compares with nil
	a.p.rules[i].when.walk(func(o *operand) {
		var visit func(n ast.Node)
		visit = func(n ast.Node) {
			if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "==" || b.Operator == "!=") {
				if _, ok := b.Right.(*ast.NilNode); ok {
					guarded[b.Left.String()] = true
				}
				if _, ok := b.Left.(*ast.NilNode); ok {
					guarded[b.Right.String()] = true
				}
			}
			children(n, func(c *ast.Node) { visit(*c) })
		}
		visit(a.t.tree(o))
	})
	a.p.rules[i].when.walk(func(o *operand) {
		f := fieldCheck{a: a, o: o, r: a.t.c.silentResolver(o.snippet.scope), guarded: guarded}
		n := a.t.tree(o)
		if o.boolean {
			f.needs(n)
		}
		f.visit(n)
	})
}

// fieldCheck looks at one operand.
type fieldCheck struct {
	a       *analyzer
	o       *operand
	r       *resolver
	guarded map[string]bool
}

// visit looks for places where a value must be there.
func (f *fieldCheck) visit(n ast.Node) {
	switch t := n.(type) {
	case *ast.BinaryNode:
		switch t.Operator {
		case "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "^", "**", "..":
			f.needs(t.Left)
			f.needs(t.Right)
		}
	case *ast.UnaryNode:
		f.needs(t.Node)
	case *ast.MemberNode:
		if !t.Optional {
			f.needs(t.Node)
		}
	case *ast.BuiltinNode:
		if len(t.Arguments) > 0 && slices.Contains([]string{"len", "any", "all", "none", "one", "filter", "map", "count", "find", "findIndex"}, t.Name) {
			f.needs(t.Arguments[0])
		}
	case *ast.PredicateNode:
		return // its # stands for elements, whose fields are another matter
	}
	children(n, func(c *ast.Node) { f.visit(*c) })
}

// needs reports a field that may be nil.
func (f *fieldCheck) needs(n ast.Node) {
	sym, path := f.r.chain(n)
	if sym == nil || sym.kind != factSymbol || len(path) == 0 || f.guarded[n.String()] {
		return
	}
	t := f.r.typeOf(n, nil)
	if t == nil || !analysis.CanBeNil(t) {
		return
	}
	runes := []rune(f.o.text)
	from, to := spanOf(runes, n)
	text := string(runes[from:to])
	absent := map[string]any{}
	for i := len(path) - 2; i >= 0; i-- {
		absent = map[string]any{path[i]: absent}
	}
	a := f.a
	a.report("optional-field", f.o.snippet.pos(f.o.from+from), f.o.snippet.pos(f.o.from+to),
		fmt.Sprintf("write %s ?? and a value that stands in, or give the field a default in its schema", text),
		fmt.Sprintf("%q may be absent, and then this cannot be evaluated", strings.Join(path, ".")), nil)
	w := Witness{Facts: map[string]any{a.t.labelOf(sym.fact): absent}}
	a.diags[len(a.diags)-1].Witness = w.asJSON()
}
