package rules

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/schema"
)

// This file says which operands boundary values decide, and which values these are. Of a text it matters only what it is equal to. Whole
// numbers that are compared with constants and with each other can be moved towards the constants, as long as a distance that is larger
// than the largest number which a comparison adds stays larger: no comparison changes. So the numbers near the constants are enough, and
// near means this number and one for each of those that are compared with each other. Other numbers are not decided.

// decided reports whether boundary values decide an operand, and notes for its variables what they are compared with.
func (u *uses) decided(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallNode:
		return slices.Contains([]string{"ok", "missing", "invalid"}, n.Callee.String())
	case *ast.BinaryNode:
		with := []ast.Node{n.Right}
		if list, isList := n.Right.(*ast.ArrayNode); isList && n.Operator == "in" {
			with = list.Nodes
		} else if !slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, n.Operator) {
			return false
		}
		ok := true
		for _, x := range with {
			ok = ok && compare(u.side(n.Left), u.side(x), strings.ContainsAny(n.Operator, "<>"))
		}
		return ok
	}
	s := u.side(n)
	return s.known && !s.numeric
}

// side is one side of a comparison: a constant, or a variable, to which a number may be added.
type side struct {
	known    bool // else it is something else
	v        *variable
	constant any
	number   int
	numeric  bool
}

// side returns what a node is. A let that is a condition has both values, and so is as good as a constant.
func (u *uses) side(n ast.Node) side {
	kinds := []string{"string", "boolean", "", "integer"}
	switch x := n.(type) {
	case *ast.StringNode:
		return side{known: true, constant: x.Value}
	case *ast.BoolNode:
		return side{known: true, constant: x.Value}
	case *ast.IntegerNode:
		return side{known: true, constant: x.Value, number: x.Value, numeric: true}
	case *ast.BinaryNode:
		l, r := u.side(x.Left), u.side(x.Right)
		sign := map[string]int{"+": 1, "-": -1}[x.Operator]
		l.known = l.numeric && r.numeric && l.v != nil && r.v == nil && sign != 0
		l.number += sign * r.number
		return l
	case *ast.BuiltinNode:
		if x.Name == "len" {
			n, kinds = x.Arguments[0], []string{"array"}
		}
	}
	i := slices.IndexFunc(u.reads, func(r use) bool { return strings.Join(r.path.written, ".") == n.String() })
	switch {
	case i < 0:
		return side{}
	case u.reads[i].value == nil:
		let := u.reads[i].path.root.let
		return side{known: let != nil && let.isTruth(), constant: true}
	}
	v := u.reads[i].value
	return side{known: slices.Contains(kinds, v.typ.Kind), v: v, numeric: v.typ.Kind == "array" || v.typ.Kind == "integer"}
}

// compare reports whether boundary values decide how two sides compare.
func compare(a, b side, ordered bool) bool {
	if a.v == nil {
		a, b = b, a
	}
	switch numbers := a.numeric && b.numeric; {
	case !a.known || !b.known || !numbers && (ordered || b.v != nil || a.numeric && a.v != nil) || a.v != nil && a.v == b.v:
		return false
	case a.v == nil:
	case b.v != nil:
		a.v.peers, b.v.peers, a.v.offset = append(a.v.peers, b.v), append(b.v.peers, a.v), max(a.v.offset, a.number-b.number, b.number-a.number)
	case numbers:
		a.v.consts = append(a.v.consts, b.number-a.number)
	default:
		a.v.consts = append(a.v.consts, b.constant)
	}
	return true
}

// domain adds the values of a variable that make a difference to those that do not depend on comparisons.
func (m *model) domain(v *variable) {
	var values []any
	t, others := v.typ, v.values
	switch {
	case len(t.Enum) > 0:
		values = t.Enum
	case t.Kind == "integer" || t.Kind == "array":
		if values = m.numbers(v); values == nil {
			v.vague, others = true, append(others, result{state: open, why: errOpen})
		}
	case t.Kind == "string" || t.Kind == "":
		other := "another"
		for slices.Contains(v.consts, any(other)) {
			other += "-1"
		}
		if values = slices.Concat(t.Examples, v.consts, []any{other}); t.Kind == "" {
			values = append(values, true, false)
		}
	default:
		v.vague = true // what is likely is all that it may be, or no matter
	}
	if v.vague {
		likely := m.likely.of(t, 3)
		values = slices.Concat(values, likely[:min(len(likely), maxLikely)])
	}
	if t.HasDefault && t.Kind != "array" {
		values = slices.Concat([]any{t.Default}, values)
	}
	v.values = nil
	for _, x := range values {
		if r := known(x); !slices.ContainsFunc(v.values, func(old result) bool { return reflect.DeepEqual(old, r) }) {
			v.values = append(v.values, r)
		}
	}
	v.values = append(v.values, others...)
}

const (
	maxNumbers = 400
	maxLength  = 2_000 // of a list
	maxLikely  = 100
)

// numbers returns the numbers that a variable may be without loss of generality, or lists of these lengths. It is nil if they are too many,
// or not all whole.
func (m *model) numbers(v *variable) (out []any) {
	all, radius, near := []*variable{v}, 1, []int{0}
	for i := 0; i < len(all); i++ { // with all that it is compared with, in any number of steps
		w := all[i]
		all, radius = add(all, w.peers...), max(radius, min(w.offset, maxNumbers)+1)
		for _, k := range slices.Concat(w.consts, w.typ.Enum, bounds(w.typ)) {
			n, ok := wholeNumber(k)
			if !ok || max(n, -n) > 1<<53 {
				return nil
			}
			near = add(near, n)
		}
	}
	radius *= len(all)
	if len(near)*(2*radius+1) > maxNumbers || v.typ.Kind == "array" && slices.Max(near) > maxLength {
		return nil
	}
	for distance := range radius + 1 { // the nearest first
		for _, n := range near {
			for _, x := range []int{n + distance, n - distance} {
				switch {
				case v.typ.Kind == "array" && x >= 0:
					out = append(out, slices.Repeat(m.likely.of(v.typ.Items, 2)[:1], x))
				case v.typ.Kind != "array" && within(v.typ, x):
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// bounds returns the numbers that a schema sets as bounds.
func bounds(t *schema.Type) (out []any) {
	for _, bound := range []*float64{t.Minimum, t.Maximum} {
		if bound != nil {
			out = append(out, *bound)
		}
	}
	return out
}

// within reports whether a schema allows a number.
func within(t *schema.Type, n int) bool {
	return (t.Minimum == nil || float64(n) >= *t.Minimum) && (t.Maximum == nil || float64(n) <= *t.Maximum)
}

// likely are values that are likely to make a difference: the texts and numbers of conditions, and the fields of elements.
type likely struct {
	texts, numbers []any
	fields         []string
}

// note notes what an operand is about.
func (l *likely) note(n ast.Node) {
	ast.Walk(&n, visitor(func(n *ast.Node) {
		switch x := (*n).(type) {
		case *ast.MemberNode:
			_, root := chain(x)
			_, isName := root.(*ast.IdentifierNode)
			if name, ok := x.Property.(*ast.StringNode); ok && !isName {
				l.fields = add(l.fields, name.Value)
			}
		case *ast.StringNode:
			l.texts = add[any](l.texts, x.Value)
		case *ast.IntegerNode:
			l.numbers = add[any](l.numbers, x.Value-1, x.Value, x.Value+1)
		}
	}))
}

// add adds values to a list that it does not have yet.
func add[T comparable](list []T, values ...T) []T {
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// of returns likely values of a type. depth bounds what is within it.
func (l *likely) of(t *schema.Type, depth int) (out []any) {
	t = cmp.Or(t, &schema.Type{})
	switch {
	case len(t.Enum) > 0:
		return t.Enum
	case t.Kind == "boolean":
		return []any{false, true}
	case t.Kind == "string":
		return l.texts
	case t.Kind == "integer" || t.Kind == "number":
		if out = slices.DeleteFunc(slices.Clone(l.numbers), func(x any) bool { return !within(t, x.(int)) }); len(out) == 0 {
			out = bounds(t)
		}
		return out
	case t.Kind == "array":
		out = []any{[]any{}}
		items := l.of(t.Items, depth-1)
		for _, x := range items[:min(len(items), maxLikely)] {
			out = append(out, []any{x}, []any{items[0], x})
		}
		return out
	}
	out = []any{object{}} // and others that differ from it in one field
	for _, name := range l.fields {
		if field, ok := t.Properties[name]; depth > 0 && (ok || len(t.Properties) == 0) {
			values := l.of(field, depth-1)
			for i, x := range out {
				out[i] = put(x, []string{name}, values[0])
			}
			for i := 1; i < len(values) && len(out) < maxLikely; i++ {
				out = append(out, put(out[0], []string{name}, values[i]))
			}
		}
	}
	if t.Kind == "" {
		out = slices.Concat(out, []any{true}, l.texts, l.numbers)
	}
	return out
}
