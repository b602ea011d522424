package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// optionalField reports fields that may be missing, used in a rule's when where nil is an error.
func (a *analyzer) optionalField() {
	for _, r := range a.p.rules {
		if !own(r) {
			continue
		}
		guarded := map[string]bool{} // paths that the when compares to nil
		r.when.walk(func(o *operand) {
			eachNode(o.tree(), func(n ast.Node) {
				b, ok := n.(*ast.BinaryNode)
				if !ok || b.Operator != "==" && b.Operator != "!=" {
					return
				}
				if _, ok := b.Right.(*ast.NilNode); ok {
					guarded[b.Left.String()] = true
				}
				if _, ok := b.Left.(*ast.NilNode); ok {
					guarded[b.Right.String()] = true
				}
			})
		})
		r.when.walk(func(o *operand) {
			f := fieldCheck{a: a, o: o, guarded: guarded}
			if o.boolean {
				f.needs(o.tree())
			}
			f.visit(o.tree())
		})
	}
}

// fieldCheck checks one operand.
type fieldCheck struct {
	a       *analyzer
	o       *operand
	guarded map[string]bool
}

// visit looks for uses in which nil is an error.
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
		return // its # are elements, whose fields do not count
	}
	children(n, func(c *ast.Node) { f.visit(*c) })
}

// needs reports a field that may be nil.
func (f *fieldCheck) needs(n ast.Node) {
	sym, path := f.a.t.c.table.chain(n)
	if sym == nil || sym.kind != factSymbol || len(path) == 0 || f.guarded[n.String()] {
		return
	}
	t := f.a.t.c.types[n]
	if t == nil || !analysis.CanBeNil(t) {
		return
	}
	runes := []rune(f.o.src.snippet.src)
	from, to := spanOf(runes, n)
	text := string(runes[from:to])
	absent := map[string]any{}
	for i := len(path) - 2; i >= 0; i-- {
		absent = map[string]any{path[i]: absent}
	}
	d := f.a.report("optional-field", place{f.o.src.snippet.pos(from), f.o.src.snippet.pos(to)},
		fmt.Sprintf("write %s ?? and a value to use instead, or give the field a default in its schema", text),
		fmt.Sprintf("%q may be missing, and then this cannot be evaluated", strings.Join(path, ".")))
	w := Situation{Facts: map[string]any{sym.fact.Name: absent}}
	d.Situation = w.asJSON()
}
