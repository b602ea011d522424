package rules

import (
	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// comparison translates a comparison or membership; nil if the model cannot express it.
func (t *translator) comparison(n ast.Node, sc *scope) *analysis.Outcomes {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	switch b.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
	case "in":
		return t.membership(b, sc)
	default:
		return nil
	}
	left, ok1 := t.sideOf(b.Left, sc)
	right, ok2 := t.sideOf(b.Right, sc)
	if !ok1 || !ok2 {
		return nil
	}
	return t.Compare(b.Operator, left, right)
}

// membership translates x in [a, b, …] and x in a..b.
func (t *translator) membership(b *ast.BinaryNode, sc *scope) *analysis.Outcomes {
	left, ok := t.sideOf(b.Left, sc)
	if !ok {
		return nil
	}
	switch list := b.Right.(type) {
	case *ast.ArrayNode:
		var one []*analysis.Formula
		for _, e := range list.Nodes {
			right, ok := t.sideOf(e, sc)
			if !ok || !right.Constant() {
				return nil
			}
			eq := t.Equal(left, right)
			if eq == nil {
				return nil
			}
			one = append(one, eq)
		}
		return analysis.When(analysis.Or(one...))
	case *ast.BinaryNode:
		from, ok1 := t.sideOf(list.Left, sc)
		to, ok2 := t.sideOf(list.Right, sc)
		if list.Operator == ".." && ok1 && ok2 {
			return left.Within(from, to)
		}
	}
	return nil
}
