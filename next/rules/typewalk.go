package rules

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/next/internal/text"
	"github.com/ralph-sdk/ralph/next/schema"
)

// typeWalk follows the schema's types through one expression, before expr's checker sees it: it reports fields that there are not, and
// comparisons with values that a field never has.
type typeWalk struct {
	c      *compiler
	x      *expression
	items  []*schema.Type // of the lists whose predicates are being visited
	locals map[string]*schema.Type
}

// visit returns the type of a node, nil if it is not known.
func (w *typeWalk) visit(n ast.Node) *schema.Type {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return w.identifier(n)
	case *ast.MemberNode:
		return w.member(n)
	case *ast.PointerNode:
		if n.Name == "" && len(w.items) > 0 {
			return w.items[len(w.items)-1]
		}
		return nil
	case *ast.ChainNode:
		return w.visit(n.Node)
	case *ast.SliceNode:
		w.rest(n)
		return w.visit(n.Node)
	case *ast.BuiltinNode:
		return w.builtin(n)
	case *ast.VariableDeclaratorNode:
		t := w.visit(n.Value)
		if w.locals == nil {
			w.locals = map[string]*schema.Type{}
		}
		w.locals[n.Name] = t
		defer delete(w.locals, n.Name)
		return w.visit(n.Expr)
	case *ast.BinaryNode:
		return w.binary(n)
	case *ast.ConditionalNode:
		w.visit(n.Cond)
		t := w.visit(n.Exp1)
		if u := w.visit(n.Exp2); t != nil && u == t {
			return t
		}
		return nil
	}
	w.rest(n)
	return nil
}

// rest visits the nodes below one whose type is not followed.
func (w *typeWalk) rest(n ast.Node) {
	for _, child := range children(n) {
		w.visit(*child)
	}
}

func (w *typeWalk) identifier(n *ast.IdentifierNode) *schema.Type {
	if t, ok := w.locals[n.Value]; ok {
		return t
	}
	s := w.c.symbols[n.Value]
	switch {
	case s == nil:
		return nil
	case s.let != nil:
		return s.let.typ
	}
	return s.typ
}

func (w *typeWalk) member(n *ast.MemberNode) *schema.Type {
	t := w.visit(n.Node)
	name, ok := n.Property.(*ast.StringNode)
	if !ok {
		w.visit(n.Property)
		if t != nil && t.Kind == "array" {
			return t.Items
		}
		return nil
	}
	if t == nil || t.Properties == nil {
		return nil
	}
	if field := t.Properties[name.Value]; field != nil || has(t.Properties, name.Value) {
		return field
	}
	of := ""
	if _, isItem := n.Node.(*ast.PointerNode); !isItem {
		of = " in " + n.Node.String()
	}
	w.report(n.Property, utf8.RuneCountInString(name.Value), "unknown-field", fmt.Sprintf("there is no field %s%s", name.Value, of), text.Nearest(name.Value, sortedKeys(t.Properties)))
	return nil
}

func has[V any](m map[string]V, key string) bool { _, ok := m[key]; return ok }

// builtin follows the elements of lists.
func (w *typeWalk) builtin(n *ast.BuiltinNode) *schema.Type {
	if len(n.Arguments) == 0 {
		return nil
	}
	t := w.visit(n.Arguments[0])
	var item, result *schema.Type
	if t != nil && t.Kind == "array" {
		item = t.Items
	}
	for _, a := range n.Arguments[1:] {
		if p, ok := a.(*ast.PredicateNode); ok {
			w.items = append(w.items, item)
			result = w.visit(p.Node)
			w.items = w.items[:len(w.items)-1]
		} else {
			w.visit(a)
		}
	}
	switch n.Name {
	case "filter", "sortBy", "sort", "reverse", "uniq", "take":
		return t
	case "find", "findLast", "first", "last":
		return item
	case "map":
		return listOf(result)
	}
	return nil
}

func (w *typeWalk) binary(n *ast.BinaryNode) *schema.Type {
	l, r := w.visit(n.Left), w.visit(n.Right)
	switch n.Operator {
	case "==", "!=", "in":
		w.compare(l, n.Right)
		w.compare(r, n.Left)
	case "??":
		return l
	}
	return nil
}

// compare reports constants of a node that a value of the type never equals.
func (w *typeWalk) compare(t *schema.Type, n ast.Node) {
	if t == nil || len(t.Enum)+len(t.Examples) == 0 {
		return
	}
	known := slices.Concat(t.Enum, t.Examples)
	if t.HasDefault && !containsValue(known, t.Default) {
		known = append(known, t.Default)
	}
	constants := []ast.Node{n}
	if list, ok := n.(*ast.ArrayNode); ok {
		constants = list.Nodes
	}
	for _, x := range constants {
		s, ok := x.(*ast.StringNode)
		if !ok || containsValue(known, s.Value) || s.Value == "" {
			continue
		}
		w.report(x, utf8.RuneCountInString(s.Value)+2, "never-equal", fmt.Sprintf("this is never %q", s.Value), text.Nearest(s.Value, texts(known)))
	}
}

func containsValue(list []any, v any) bool {
	return slices.ContainsFunc(list, func(x any) bool { return show(x) == show(v) })
}

func (w *typeWalk) report(n ast.Node, width int, check, message, help string) {
	w.c.report(w.x.at.plus(start(n)), width, check, message, help)
}
