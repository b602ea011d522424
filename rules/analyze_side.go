package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
	"github.com/ralph-sdk/ralph/schema"
)

// sideOf translates a side of a comparison; ok is false if the model cannot express it.
func (t *translator) sideOf(n ast.Node) (analysis.Side, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return analysis.Constant(n.Value)
	case *ast.StringNode:
		return analysis.Constant(n.Value)
	case *ast.BoolNode:
		return analysis.Constant(n.Value)
	case *ast.NilNode:
		return analysis.Constant(nil)
	case *ast.ChainNode:
		return t.sideOf(n.Node)
	case *ast.UnaryNode:
		if n.Operator == "-" {
			if s, ok := t.sideOf(n.Node); ok {
				zero, _ := analysis.Constant(0)
				return zero.Plus(s, -1)
			}
		}
	case *ast.BinaryNode:
		if !slices.Contains([]string{"+", "-", "??"}, n.Operator) {
			break
		}
		x, ok := t.sideOf(n.Left)
		y, ok2 := t.sideOf(n.Right)
		switch {
		case !ok || !ok2:
		case n.Operator == "??":
			return x.Or(y)
		case n.Operator == "+":
			return x.Plus(y, 1)
		case n.Operator == "-":
			return x.Plus(y, -1)
		}
	case *ast.IdentifierNode:
		return t.named(n)
	case *ast.MemberNode:
		return t.field(n)
	}
	return analysis.Side{}, false
}

// count returns the type of a name that counts something, or nil.
func (s *symbol) count() *schema.Schema {
	if s.kind != nameSymbol || !s.info.Memory || s.info.zero != any(0) {
		return nil
	}
	return &schema.Schema{Kind: schema.Int, Min: new(float64)}
}

// named translates a let, a param, one of ralph's names, or a fact that is a string.
func (t *translator) named(n *ast.IdentifierNode) (analysis.Side, bool) {
	s := t.c.table.find(n.Value)
	if s == nil {
		return analysis.Side{}, false
	}
	switch s.kind {
	case letSymbol:
		if o := s.plainLet(); o != nil {
			return t.sideOf(o.tree())
		}
	case constSymbol:
		if t.fixed || strings.Contains(s.key, "/") { // included files may have other values
			return analysis.Constant(s.value)
		}
		return t.typed("param "+s.key, s.typ, quantity{kind: paramValue, name: s.name}, s.value)
	case nameSymbol:
		switch {
		case s.count() != nil:
			return t.typed("name "+s.key, s.count(), quantity{kind: nameValue, name: s.name}, 0)
		case s.typ != nil && s.name != vocab.HookRaw:
			return t.typed("name "+s.key, s.typ, quantity{kind: nameValue, name: s.name}, s.info.zero)
		}
	case memorySymbol:
		// A value that the schema no longer allows counts as the default.
		return t.typed("memory "+s.key, s.typ, quantity{kind: memoryOf, name: s.name}, s.value)
	case factSymbol:
		if s.fact.Source.File && s.typ != nil && s.typ.Kind == schema.String {
			return t.typed(fieldKey(t.labelOf(s.fact), nil), s.typ, quantity{kind: fieldValue, name: t.labelOf(s.fact), fact: s.fact}, nil)
		}
	}
	return analysis.Side{}, false
}

// plainLet returns the expression of a let without parts, or nil.
func (s *symbol) plainLet() *operand {
	if s.let.root == nil {
		return nil
	}
	return s.let.root.operand
}

// field translates a static path into a fact.
func (t *translator) field(n *ast.MemberNode) (analysis.Side, bool) {
	sym, path := t.c.table.chain(n)
	for sym != nil && sym.kind == letSymbol { // a let that is itself a path
		o := sym.plainLet()
		if o == nil {
			return analysis.Side{}, false
		}
		base, start := t.c.table.chain(o.tree())
		sym, path = base, slices.Concat(start, path)
	}
	if sym == nil || len(path) == 0 {
		return analysis.Side{}, false
	}
	typ := sym.typ
	for i, step := range path {
		if typ == nil || step == "*" || isIndex(step) || typ.Kind != schema.Object {
			return analysis.Side{}, false
		}
		if i > 0 && analysis.CanBeNil(typ) {
			return analysis.Side{}, false // reading through nil is an error
		}
		typ = fieldOf(typ, step)
	}
	if typ == nil {
		return analysis.Side{}, false
	}
	typ, ok := t.shared(sym.fact, path, typ)
	if !ok {
		return analysis.Side{}, false
	}
	name := t.labelOf(sym.fact)
	var prefer any
	if typ.HasDefault {
		prefer = typ.Default
	}
	return t.typed(fieldKey(name, path), typ, quantity{kind: fieldValue, name: name, fact: sym.fact, path: path}, prefer)
}

// fieldKey returns the key of a fact's field in the model.
func fieldKey(fact string, path []string) string {
	return "field " + fact + " " + strings.Join(path, "\x00")
}

// typed returns a side of a schema type; ok is false if the model cannot express it.
func (t *translator) typed(key string, typ *schema.Schema, q quantity, prefer any) (analysis.Side, bool) {
	made := t.byKey[key]
	if made == nil {
		var ok bool
		// A file may contain values out of bounds, which are kept. An empty text file is missing.
		q.Quantity, ok = t.OfType(typ, prefer, q.kind != fieldValue, q.kind == fieldValue && len(q.path) == 0)
		if !ok {
			return analysis.Side{}, false
		}
		made = t.define(key, &q)
	}
	return made.Side(), true
}
