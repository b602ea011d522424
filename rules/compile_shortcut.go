package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// comparison is an operand that needs no machine: a path, or two sides and what
// is between them. It says what expr would say, and nothing where that would take
// more than a look: evaluate then reports false and the machine is asked.
type comparison struct {
	op          string // "" if there is only a left side
	left, right term
}

// term is a literal, or a static path into a symbol's value.
type term struct {
	literal any
	sym     *symbol
	path    []string
}

// comparisonOf gives the comparison that a resolved leaf is, or nil.
func comparisonOf(n ast.Node, t *table) *comparison {
	if b, ok := n.(*ast.BinaryNode); ok {
		switch b.Operator {
		case "==", "!=", "<", "<=", ">", ">=":
			left, ok1 := termOf(b.Left, t)
			right, ok2 := termOf(b.Right, t)
			if ok1 && ok2 {
				return &comparison{op: b.Operator, left: left, right: right}
			}
		}
		return nil
	}
	if left, ok := termOf(n, t); ok {
		return &comparison{left: left}
	}
	return nil
}

func termOf(n ast.Node, t *table) (term, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return term{literal: n.Value}, true
	case *ast.IntegerNode:
		return term{literal: n.Value}, true
	case *ast.BoolNode:
		return term{literal: n.Value}, true
	case *ast.IdentifierNode:
		if s := t.find(n.Value); s != nil {
			return term{sym: s}, true
		}
	case *ast.MemberNode:
		if p, ok := n.Property.(*ast.StringNode); ok && !n.Optional {
			if base, ok := termOf(n.Node, t); ok && base.sym != nil {
				base.path = append(slices.Clip(base.path), p.Value)
				return base, true
			}
		}
	}
	return term{}, false
}
