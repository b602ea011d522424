package rules

import "github.com/expr-lang/expr/ast"

// comparison is an operand that needs no machine: a path, or two sides and what
// is between them. It says what expr would say, and nothing where that would take
// more than a look: evaluate then reports false and the machine is asked.
type comparison struct {
	op          string // "" if there is only a left side
	left, right term
}

// comparisonOf gives the comparison that a resolved leaf is, or nil. plain is what
// it is if it compares nothing.
func comparisonOf(n ast.Node, plain *term, t *table) *comparison {
	if plain != nil {
		return &comparison{left: *plain}
	}
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
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
