package rules

import "github.com/expr-lang/expr/ast"

// comparison is an operand that needs no machine: a path, or two sides with an operator. It returns what expr would,
// but reports false in all but simple cases, for which the machine is then used.
type comparison struct {
	op          string // "" if there is only a left side
	left, right term
}

// comparisonOf returns a resolved leaf as a comparison, or nil. plain is the leaf if it compares nothing.
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
