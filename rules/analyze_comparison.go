package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// comparison translates a comparison or membership; nil if the model cannot express it.
func (t *translator) comparison(n ast.Node) *analysis.Outcomes {
	b, ok := n.(*ast.BinaryNode)
	if !ok || !slices.Contains([]string{"==", "!=", "<", "<=", ">", ">=", "in"}, b.Operator) {
		return nil
	}
	left, ok := t.sideOf(b.Left)
	if !ok {
		return nil
	}
	if b.Operator != "in" {
		if right, ok := t.sideOf(b.Right); ok {
			return t.Compare(b.Operator, left, right)
		}
		return nil
	}
	switch list := b.Right.(type) {
	case *ast.ArrayNode:
		one := make([]*analysis.Formula, len(list.Nodes))
		for i, e := range list.Nodes {
			right, ok := t.sideOf(e)
			if _, constant := right.Constant(); !ok || !constant {
				return nil
			}
			if one[i] = t.Equal(left, right); one[i] == nil {
				return nil
			}
		}
		return analysis.When(analysis.Or(one...))
	case *ast.BinaryNode:
		from, ok1 := t.sideOf(list.Left)
		to, ok2 := t.sideOf(list.Right)
		if list.Operator == ".." && ok1 && ok2 {
			return left.Within(from, to)
		}
	}
	return nil
}
