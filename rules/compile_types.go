package rules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/schema"
)

// typed finds the schema type of each plain expression in n: of a chain of members, and of a builtin that keeps or takes
// the elements of a list. They are in r.c.types, until the next call if nothing is checked later. It returns the type of
// n, nil if it is unknown.
func (r *resolver) typed(n ast.Node) *schema.Schema {
	if r.c.lazy {
		clear(r.c.types)
	}
	return r.typeOf(n, nil)
}

// typeOf is typed for a part of an expression; elems are the element types of the surrounding predicates.
func (r *resolver) typeOf(n ast.Node, elems []*schema.Schema) (t *schema.Schema) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if s := r.c.table.find(n.Value); s != nil {
			t = s.typ
		}
	case *ast.PointerNode:
		if n.Name == "" && len(elems) > 0 {
			t = elems[len(elems)-1]
		}
	case *ast.ChainNode:
		t = r.typeOf(n.Node, elems)
	case *ast.MemberNode:
		base := r.typeOf(n.Node, elems)
		if p, ok := n.Property.(*ast.StringNode); ok {
			t = fieldOf(base, p.Value)
			r.c.index.field(&r.to.snippet, p, base)
		} else {
			r.typeOf(n.Property, elems)
			t = elementOf(base)
		}
	case *ast.BuiltinNode:
		t = r.builtinType(n, elems)
	case *ast.SliceNode:
		children(n, func(c *ast.Node) {
			if of := r.typeOf(*c, elems); *c == n.Node {
				t = of
			}
		})
	default:
		children(n, func(c *ast.Node) { r.typeOf(*c, elems) })
	}
	if t != nil {
		r.c.types[n] = t
	}
	return t
}

// builtinType is typeOf for a builtin; the elements of its first argument are those of its predicates.
func (r *resolver) builtinType(n *ast.BuiltinNode, elems []*schema.Schema) *schema.Schema {
	if len(n.Arguments) == 0 {
		return nil
	}
	of := r.typeOf(n.Arguments[0], elems)
	if len(n.Arguments) > 1 {
		if _, ok := n.Arguments[1].(*ast.PredicateNode); ok {
			elems = append(slices.Clip(elems), elementOf(of))
		}
		for _, a := range n.Arguments[1:] {
			r.typeOf(a, elems)
		}
	}
	switch n.Name {
	case "filter", "sortBy", "sort", "reverse", "uniq":
		return of
	case "find", "findLast", "first", "last":
		return elementOf(of)
	case "get":
		if len(n.Arguments) == 2 {
			if p, ok := n.Arguments[1].(*ast.StringNode); ok {
				return fieldOf(of, p.Value)
			}
		}
		return elementOf(of)
	}
	return nil
}

func fieldOf(t *schema.Schema, name string) *schema.Schema {
	if t == nil {
		return nil
	}
	if f := t.Fields[name]; f != nil {
		return f
	}
	return t.Extra
}

func elementOf(t *schema.Schema) *schema.Schema {
	if t == nil {
		return nil
	}
	return t.Elem
}

// declares reports whether a field may be named: it is declared, or the type declares no fields, or describes further
// ones.
func declares(t *schema.Schema, name string) bool {
	return t == nil || len(t.Fields) == 0 || t.Extra != nil || t.Fields[name] != nil
}

// hasListOf reports whether t is an object with a list whose elements have the field.
func hasListOf(t *schema.Schema, name string) bool {
	if t == nil {
		return false
	}
	for _, f := range t.Fields {
		if e := elementOf(f); e != nil && e.Fields[name] != nil {
			return true
		}
	}
	return false
}

func fieldNames(t *schema.Schema) []string { return slices.Collect(maps.Keys(t.Fields)) }

// checkTypes reports what expr's checker does not: undeclared fields, with the nearest name, and comparisons with a
// value that an enum never has.
func (r *resolver) checkTypes(n ast.Node) {
	switch t := n.(type) {
	case *ast.MemberNode:
		r.checkUse(t)
		if p, ok := t.Property.(*ast.StringNode); ok {
			base := r.c.types[t.Node]
			if declares(base, p.Value) {
				r.checkUnlisted(p, base)
			} else {
				names := fieldNames(base)
				r.fail(p, "unknown-field", meantField(p.Value, names), fmt.Sprintf("unknown field %q; the declared fields are %s", p.Value, list(names)))
			}
		}
	case *ast.BinaryNode:
		switch t.Operator {
		case "and", "or", "&&", "||":
			r.checkCondition(t.Left)
			r.checkCondition(t.Right)
		case "==", "!=":
			r.checkEnum(t.Left, t.Right)
			r.checkEnum(t.Right, t.Left)
			r.checkNil(t.Left, t.Right)
			r.checkNil(t.Right, t.Left)
			r.checkKinds(t)
		case "<", "<=", ">", ">=":
			r.checkKinds(t)
		case "in":
			if a, ok := t.Right.(*ast.ArrayNode); ok {
				for _, e := range a.Nodes {
					r.checkEnum(t.Left, e)
				}
			}
		}
	case *ast.UnaryNode:
		if t.Operator == "not" || t.Operator == "!" {
			r.checkCondition(t.Node)
		}
	}
	children(n, func(c *ast.Node) { r.checkTypes(*c) })
}

// meantField guesses the declared field that a name stands for.
func meantField(name string, declared []string) string {
	if other := otherField(name, declared); other != "" {
		return "did you mean " + quote(other) + "?"
	}
	return nearest.DidYouMean(name, declared)
}

// checkEnum reports a literal that the other side never equals.
func (r *resolver) checkEnum(side, literal ast.Node) {
	var v any
	switch l := literal.(type) {
	case *ast.StringNode:
		v = l.Value
	case *ast.IntegerNode:
		v = l.Value
	case *ast.BoolNode:
		v = l.Value
	default:
		return
	}
	if t := r.c.types[side]; t != nil && len(t.Enum) > 0 && !allows(t, v) {
		words := enumWords(t)
		r.fail(literal, "enum", nearest.DidYouMean(fmt.Sprint(v), words), fmt.Sprintf("this is never %s; it is one of %s", literalText(v), list(words)))
	}
}

// checkNil reports a comparison with nil of what is never nil: a fact, or a field with a default. It skips elements of
// lists, which may be out of range.
func (r *resolver) checkNil(side, other ast.Node) {
	if _, ok := other.(*ast.NilNode); !ok {
		return
	}
	s, path := pathIn(side, r.c.table)
	if s == nil || s.kind != factSymbol && s.kind != nameSymbol {
		return
	}
	t := s.typ
	for _, step := range path {
		if step == "*" || isIndex(step) || t != s.typ && maybeNil(t) { // nil because its container is
			return
		}
		t = fieldOf(t, step)
	}
	help := "compare it with its default"
	if len(path) == 0 && s.kind == factSymbol {
		help = "write missing(" + s.name + ")"
	} else if maybeNil(t) {
		return
	}
	r.fail(other, "never-nil", help, "this is never nil: it always has a value")
}

// maybeNil reports whether a value of this type can be nil.
func maybeNil(t *schema.Schema) bool {
	return t == nil || t.Kind == schema.Any || t.Kind == schema.Null || t.Nullable || t.Optional
}

// allows reports whether a value is in the enum and the bounds of a type, or its default.
func allows(t *schema.Schema, v any) bool {
	n, number := v.(int)
	within := !number || (t.Min == nil || float64(n) >= *t.Min) && (t.Max == nil || float64(n) <= *t.Max)
	return within && (len(t.Enum) == 0 || slices.Contains(t.Enum, v)) || t.HasDefault && t.Default == v
}

// rangeOf describes the values that a type allows.
func rangeOf(t *schema.Schema) string {
	switch {
	case len(t.Enum) > 0:
		return "one of " + list(enumWords(t))
	case t.Min != nil && t.Max != nil:
		return fmt.Sprintf("%v to %v", *t.Min, *t.Max)
	case t.Min != nil:
		return fmt.Sprintf("%v or more", *t.Min)
	case t.Max != nil:
		return fmt.Sprintf("%v or less", *t.Max)
	}
	return t.String()
}

func enumWords(t *schema.Schema) []string {
	words := make([]string, len(t.Enum))
	for i, e := range t.Enum {
		words[i] = fmt.Sprint(e)
	}
	return words
}

// literalText returns a literal as messages show it.
func literalText(v any) string {
	if s, ok := v.(string); ok {
		return quote(s)
	}
	return fmt.Sprint(v)
}
