package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// readings are what an expression reads of symbols. If any of it is private, then so is
// the whole of what the expression makes: what happens on the way is not followed.
type readings struct {
	paths []reading
	plain bool // the expression is nothing but the one path
	count bool // its value says how many or where, which gives nothing away
}

// reading is a path of fields in the value of a symbol. Indexes and elements have no step.
type reading struct {
	sym    *symbol
	path   []string
	counts bool // it only asks how many elements there are
}

// of returns the secrecy of what is read of a value.
func (r reading) of(mark *secrecy) *secrecy {
	mark = mark.at(r.path)
	if r.counts && mark != nil && mark.shows != nil {
		return nil
	}
	return mark
}

// readingsOf returns what a resolved expression reads.
func readingsOf(n ast.Node, t *table) readings {
	_, plain := t.reading(n)
	b, _ := n.(*ast.BuiltinNode)
	return readings{
		paths: t.readings(n, nil), plain: plain,
		count: b != nil && slices.Contains([]string{"len", "count", "indexOf", "lastIndexOf", "findIndex", "findLastIndex"}, b.Name),
	}
}

func (t *table) readings(n ast.Node, out []reading) []reading {
	if r, ok := t.reading(n); ok {
		return append(out, r)
	}
	if b, ok := n.(*ast.BuiltinNode); ok && len(b.Arguments) > 0 {
		list, ok := t.reading(b.Arguments[0])
		rest := b.Arguments[1:]
		fields, only := asked(b.Name, rest)
		if ok && only {
			for _, field := range fields {
				out = append(out, reading{sym: list.sym, path: append(slices.Clone(list.path), field)})
			}
			list.counts = true
			out = append(out, list)
			for _, n := range rest {
				out = t.readings(n, out)
			}
			return out
		}
	}
	children(n, func(c *ast.Node) { out = t.readings(*c, out) })
	return out
}

// reading returns what an expression reads that is a path; false if it is more.
func (t *table) reading(n ast.Node) (reading, bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		s := t.find(n.Value)
		return reading{sym: s}, s != nil
	case *ast.ChainNode:
		return t.reading(n.Node)
	case *ast.MemberNode:
		r, ok := t.reading(n.Node)
		switch p := n.Property.(type) {
		case *ast.StringNode:
			r.path = append(r.path, p.Value)
			return r, ok
		case *ast.IntegerNode:
			return r, ok
		}
	}
	return reading{}, false
}

// asked returns the fields of elements that a question about a list reads; false if it is
// no such question, or reads more of them.
func asked(question string, predicate []ast.Node) (fields []string, only bool) {
	switch question {
	case "len":
		return nil, true
	case "all", "none", "any", "one", "count":
		return elementFields(predicate...)
	}
	return nil, false
}

// elementFields returns the fields that expressions read of an element; false if they use
// it in another way.
func elementFields(nodes ...ast.Node) (fields []string, only bool) {
	only = len(nodes) > 0
	for _, n := range nodes {
		if m, ok := n.(*ast.MemberNode); ok {
			_, element := m.Node.(*ast.PointerNode)
			if field, ok := m.Property.(*ast.StringNode); ok && element {
				fields = append(fields, field.Value)
				continue
			}
		}
		if _, ok := n.(*ast.PointerNode); ok {
			return nil, false
		}
		children(n, func(c *ast.Node) {
			more, ok := elementFields(*c)
			fields, only = append(fields, more...), only && ok
		})
	}
	return fields, only
}
