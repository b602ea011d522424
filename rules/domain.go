package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// This file says which operands boundary values decide, and which values these are. Of a text it matters only what it is equal to. Where
// numbers are compared with constants and with each other, some numbers fulfil the same comparisons and are as large as these allow. Each
// is a constant, or a number above all of them, plus offsets on a way through the numbers that it is compared with, and less by a step
// for each < on that way.

// decided reports whether boundary values decide an operand, and notes for its variables what they are compared with.
func (m *model) decided(u *uses, n ast.Node) bool {
	c := comparison{u: u}
	switch n := n.(type) {
	case *ast.CallNode:
		name, _ := asked(n)
		return name == "ok" || name == "missing" || name == "invalid"
	case *ast.BinaryNode:
		with := []ast.Node{n.Right}
		if list, ok := n.Right.(*ast.ArrayNode); ok && n.Operator == "in" {
			with = list.Nodes
		} else if !slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, n.Operator) {
			return false
		}
		if slices.ContainsFunc(with, func(x ast.Node) bool { return !c.compare(n.Left, x, strings.ContainsAny(n.Operator, "<>")) }) {
			return false
		}
	default:
		if s, ok := c.side(n); !ok || s.numeric {
			return false
		}
	}
	return !slices.ContainsFunc(u.reads, func(r use) bool { return !slices.Contains(c.found, r.path) })
}

// comparison is what an operand compares.
type comparison struct {
	u     *uses
	found []*valuePath
}

// side is one side of a comparison: a variable, a constant, or for numbers their sum.
type side struct {
	v        *variable
	constant any
	number   float64
	numeric  bool
}

// side returns what a node is, and reports whether it is one. For a let that is a condition, and so has both values, it is true.
func (c *comparison) side(n ast.Node) (s side, ok bool) {
	kinds := []string{"string", "boolean", "", "integer", "number"}
	switch x := n.(type) {
	case *ast.StringNode:
		return side{constant: x.Value}, true
	case *ast.BoolNode:
		return side{constant: x.Value}, true
	case *ast.IntegerNode:
		return side{constant: x.Value, number: float64(x.Value), numeric: true}, true
	case *ast.FloatNode:
		return side{constant: x.Value, number: x.Value, numeric: true}, true
	case *ast.BinaryNode:
		l, ok := c.side(x.Left)
		r, ok2 := c.side(x.Right)
		if x.Operator == "-" && r.v == nil {
			r.number = -r.number
		} else if x.Operator != "+" || l.v != nil && r.v != nil {
			return s, false
		}
		return side{v: cmp.Or(l.v, r.v), number: l.number + r.number, numeric: true}, ok && ok2 && l.numeric && r.numeric
	case *ast.BuiltinNode:
		if x.Name == "len" {
			n, kinds = x.Arguments[0], []string{"array"}
		}
	}
	r := c.use(n)
	switch {
	case r == nil:
		return s, false
	case r.value != nil:
		k := r.value.kind
		return side{v: r.value, numeric: k == "array" || k == "integer" || k == "number"}, slices.Contains(kinds, k)
	case r.inner:
		return side{constant: true}, true
	}
	s.constant = r.path.root.value // of a param
	return s, r.path.root.meaning == constant && (s.constant == true || s.constant == false)
}

// use returns the path that a node reads as a whole, nil if it is another node.
func (c *comparison) use(n ast.Node) *use {
	for i := range c.u.reads {
		if r := &c.u.reads[i]; strings.Join(r.path.written(), ".") == n.String() {
			c.found = append(c.found, r.path)
			return r
		}
	}
	return nil
}

// written returns the names of a path as the policy writes it.
func (p *valuePath) written() []string {
	if p.name != p.root.name {
		return p.steps
	}
	return append([]string{p.root.name}, p.steps...)
}

// compare reports whether boundary values decide how two nodes compare.
func (c *comparison) compare(l, r ast.Node, ordered bool) bool {
	a, ok := c.side(l)
	b, ok2 := c.side(r)
	numbers := a.numeric && b.numeric
	sum := a.v == nil && a.constant == nil || b.v == nil && b.constant == nil
	if !ok || !ok2 || !numbers && (ordered || sum || a.numeric && a.v != nil || b.numeric && b.v != nil) || a.v != nil && a.v == b.v {
		return false
	}
	if a.v == nil {
		a, b = b, a
	}
	switch {
	case a.v == nil:
	case b.v != nil:
		a.v.peers, b.v.peers, a.v.offsets = append(a.v.peers, b.v), append(b.v.peers, a.v), append(a.v.offsets, a.number-b.number)
	case numbers:
		a.v.consts = append(a.v.consts, b.number-a.number)
	default:
		a.v.consts = append(a.v.consts, b.constant)
	}
	return true
}

// domain returns the values of a variable that make a difference, nil if they are too many.
func (m *model) domain(v *variable) (out []result) {
	var values []any
	if v.typ != nil && v.typ.HasDefault && v.kind != "array" {
		values = []any{v.typ.Default}
	}
	switch {
	case v.typ != nil && len(v.typ.Enum) > 0:
		values = append(values, v.typ.Enum...)
	case v.kind == "boolean":
		values = append(values, false, true)
	case v.kind != "integer" && v.kind != "number" && v.kind != "array":
		values = append(values, v.texts()...)
	default:
		numbers := v.numbers()
		if m.claims && len(numbers) == 0 {
			return nil
		}
		values = append(values, numbers...)
	}
	if !m.claims {
		if v.kind == "array" { // lists of nothing
			values = nil
		}
		values = append(values, m.likely(v.typ, v.kind, 4)...)
		values = values[:min(len(values), maxLikely)]
	}
	same := func(x any) func(result) bool {
		return func(r result) bool { return fmt.Sprintf("%T %[1]v", r.value) == fmt.Sprintf("%T %[1]v", x) }
	}
	for _, x := range values {
		if !slices.ContainsFunc(out, same(x)) {
			out = append(out, result{value: x, state: yes})
		}
	}
	return out
}

// component returns a variable and all that it is compared with, in any number of steps.
func (v *variable) component() []*variable {
	out := []*variable{v}
	for i := 0; i < len(out); i++ {
		for _, w := range out[i].peers {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// texts returns what a text or a value of any kind may be equal to, and values that differ from all these and from each other.
func (v *variable) texts() (out []any) {
	all := v.component()
	if v.kind == "" {
		out = append(out, true, false)
	}
	for _, w := range all {
		for _, k := range w.consts {
			if _, isText := k.(string); isText || v.kind == "" {
				out = append(out, k)
			}
		}
		if w.typ != nil {
			out = append(out, slices.Concat(w.typ.Enum, w.typ.Examples)...)
		}
	}
	other := "another"
	for n := 0; n < len(all); other += "-1" {
		if !slices.Contains(out, any(other)) {
			out = append(out, other)
			n++
		}
	}
	return out
}

const (
	maxNumbers = 500
	maxLength  = 2_000 // of a list
	maxLikely  = 200
)

// numbers returns the boundary values of a number, or lists of such lengths. It is nil if they are too many.
func (v *variable) numbers() (out []any) {
	all, real, step := v.component(), v.kind == "number", 1.0
	n, offsets, sums := len(all), []float64{}, []float64{0}
	for _, w := range all {
		offsets, sums = append(offsets, w.offsets...), append(sums, w.boundaries()...)
		if (w.kind == "number") != real || slices.ContainsFunc(w.offsets, func(o float64) bool { return !real && o != math.Trunc(o) }) {
			return nil
		}
	}
	far := float64(n + 1)
	for _, k := range append(slices.Clone(sums), offsets...) {
		far += math.Ceil(2 * float64(n+1) * math.Abs(k))
	}
	sums = append(sums, far)
	for i := range n {
		for _, s := range sums {
			for _, o := range offsets {
				if i > 0 {
					sums = append(sums, s+o, s-o)
				}
			}
		}
		slices.Sort(sums)
		if sums = slices.Compact(sums); len(sums) > maxNumbers {
			return nil
		}
	}
	for i := 1; i < len(sums) && real; i++ {
		step = min(step, (sums[i]-sums[i-1])/float64(2*n+2))
	}
	for _, s := range sums {
		for i := range n + 1 {
			out = v.fitting(out, s-float64(i)*step)
		}
	}
	if v.kind == "array" && far > maxLength {
		return nil
	}
	return out
}

// boundaries returns the constants that a number is compared with, and the bounds of its schema.
func (v *variable) boundaries() (out []float64) {
	for _, k := range v.consts {
		out = append(out, k.(float64))
	}
	if v.typ != nil && v.typ.Minimum != nil {
		out = append(out, *v.typ.Minimum)
	}
	if v.typ != nil && v.typ.Maximum != nil {
		out = append(out, *v.typ.Maximum)
	}
	for i := range out {
		if v.kind != "number" {
			out[i] = math.Floor(out[i])
		}
	}
	return out
}

// fitting adds a number that a variable may have, or a list of this length.
func (v *variable) fitting(list []any, f float64) []any {
	t := v.typ
	switch whole := f == math.Trunc(f); {
	case v.kind == "array" && f >= 0 && f <= maxLength:
		list = append(list, make([]any, int(f)))
	case v.kind == "array" || t != nil && (t.Minimum != nil && f < *t.Minimum || t.Maximum != nil && f > *t.Maximum):
	case whole:
		list = append(list, int(f))
	default:
		list = append(list, f)
	}
	return list
}
