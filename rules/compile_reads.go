package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// accesses appends the paths that a resolved leaf reads from ralph's names and from facts, also through lets: an
// unusable field must not become usable under another name. parent is nil for the leaf itself.
func (r *resolver) accesses(n, parent ast.Node, out, names *[]access) {
	if s, path := pathIn(n, r.c.table); s != nil {
		a := access{fact: s, path: path, elements: looksInto(parent, n), whole: comparesWhole(parent, n)}
		a.asks = !a.elements && asksElements(parent)
		a.needs = needs(parent, n)
		switch s.kind {
		case nameSymbol:
			if s.info.mark != nil && s.info.mark.shows != nil {
				addAccess(names, a)
			}
		case factSymbol:
			a.name = r.accessName(s, path)
			addAccess(out, a)
		case letSymbol:
			for _, b := range s.let.reads() {
				b.name = ""
				if s.let.plain() {
					b.path = slices.Concat(b.path, path)
				}
				b.elements, b.whole, b.asks, b.needs = b.elements || a.elements, b.whole || a.whole, b.asks && a.asks, b.needs.and(a.needs)
				addAccess(out, b)
			}
		}
		for m := n; m != nil; { // an index may itself read facts
			switch t := m.(type) {
			case *ast.MemberNode:
				if _, ok := t.Property.(*ast.StringNode); !ok {
					r.accesses(t.Property, t, out, names)
				}
				m = t.Node
			case *ast.ChainNode:
				m = t.Node
			default:
				m = nil
			}
		}
		return
	}
	children(n, func(c *ast.Node) { r.accesses(*c, n, out, names) })
}

func addAccess(out *[]access, a access) {
	for i := range *out {
		if b := &(*out)[i]; b.fact == a.fact && b.name == a.name && slices.Equal(b.path, a.path) && slices.Equal(b.via, a.via) {
			b.elements, b.whole, b.asks, b.needs = b.elements || a.elements, b.whole || a.whole, b.asks && a.asks, b.needs.and(a.needs)
			return
		}
	}
	*out = append(*out, a)
}

// reads returns what a let reads from facts, also through other lets.
func (l *let) reads() []access {
	var out []access
	l.root.walk(func(o *operand) {
		for _, a := range o.uses.reads {
			if o.branch {
				a.via = append([]*operand{o}, a.via...)
			}
			addAccess(&out, a)
		}
	})
	return out
}

// plain reports whether a let is another name for a path into a fact.
func (l *let) plain() bool {
	return l.root != nil && l.root.op == leaf && l.root.operand.plain != nil
}

// accessName returns a path into a fact as it is written.
func (r *resolver) accessName(s *symbol, path []string) string {
	name := strings.Join(path, ".")
	switch {
	case len(path) == 0:
		return s.name
	case r.scope.inline == s:
		return name
	}
	return s.name + "." + name
}

// looksInto reports whether parent looks at the elements of a list: everything does except len, and a predicate that
// only names their fields.
func looksInto(parent, list ast.Node) bool {
	switch p := parent.(type) {
	case nil, *ast.VariableDeclaratorNode:
		return false
	case *ast.BuiltinNode:
		if p.Name == "len" {
			return false
		}
		if len(p.Arguments) > 1 && p.Arguments[0] == list {
			if pred, ok := p.Arguments[1].(*ast.PredicateNode); ok {
				return usesElement(pred.Node)
			}
		}
	}
	return true
}

// asksElements reports whether a node tests the elements of a list, so that its value contains none of them.
func asksElements(n ast.Node) bool {
	b, ok := n.(*ast.BuiltinNode)
	return ok && slices.Contains([]string{"len", "all", "none", "any", "one", "count"}, b.Name)
}

// needs returns how much parent uses of a value.
func needs(parent, value ast.Node) extent {
	b, ok := parent.(*ast.BuiltinNode)
	switch {
	case !ok || len(b.Arguments) == 0 || b.Arguments[0] != value:
	case b.Name == "len":
		return onlyCount
	case b.Name == "first":
		return firstElement
	case b.Name == "last":
		return lastElement
	case asksElements(b) && len(b.Arguments) == 2 && !computes(b.Arguments[1]):
		return someFields
	}
	return everything
}

// computes reports whether a predicate uses elements other than by fields that it names.
func computes(n ast.Node) (yes bool) {
	switch t := n.(type) {
	case *ast.PointerNode:
		return true
	case *ast.MemberNode:
		_, element := t.Node.(*ast.PointerNode)
		if _, named := t.Property.(*ast.StringNode); element && named {
			return false
		}
	}
	children(n, func(c *ast.Node) { yes = yes || computes(*c) })
	return yes
}

// usesElement reports whether a predicate uses # itself, not only its fields.
func usesElement(n ast.Node) bool {
	switch t := n.(type) {
	case *ast.PointerNode:
		return t.Name == ""
	case *ast.MemberNode:
		if _, ok := t.Node.(*ast.PointerNode); ok {
			return usesElement(t.Property)
		}
	}
	found := false
	children(n, func(c *ast.Node) { found = found || usesElement(*c) })
	return found
}

// comparesWhole reports whether a parent compares the value to something other than nil: [] == [] reads every element
// of both.
func comparesWhole(parent, side ast.Node) bool {
	b, ok := parent.(*ast.BinaryNode)
	if !ok {
		return false
	}
	switch b.Operator {
	case "==", "!=", "in":
		_, left := b.Left.(*ast.NilNode)
		_, right := b.Right.(*ast.NilNode)
		return !left && !right
	}
	return false
}

// chain returns the fact or let, and the path that a chain of members reads from it.
func (t *table) chain(n ast.Node) (*symbol, []string) {
	if s, path := pathIn(n, t); s != nil && (s.kind == factSymbol || s.kind == letSymbol) {
		return s, path
	}
	return nil, nil
}

// pathIn returns the symbol, and the path that a chain of members reads from its value.
func pathIn(n ast.Node, t *table) (*symbol, []string) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return t.find(n.Value), nil
	case *ast.ChainNode:
		return pathIn(n.Node, t)
	case *ast.MemberNode:
		s, path := pathIn(n.Node, t)
		if s == nil {
			return nil, nil
		}
		step := "*"
		switch p := n.Property.(type) {
		case *ast.StringNode:
			step = p.Value
		case *ast.IntegerNode:
			if p.Value >= 0 {
				step = strconv.Itoa(p.Value)
			}
		}
		return s, append(path, step)
	}
	return nil, nil
}
