package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
)

// comparison translates a comparison or membership; nil if the model cannot express it.
func (t *translator) comparison(n ast.Node, sc *scope) *outcomes {
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
	switch b.Operator {
	case "==", "!=":
		eq := t.equal(left, right)
		if eq == nil {
			return nil
		}
		if b.Operator == "!=" {
			eq = solve.Not(eq)
		}
		return &outcomes{eq, solve.Not(eq), solve.False()}
	case ">", ">=":
		left, right = right, left
	}
	if !left.number || !right.number {
		return nil
	}
	below := 0 // left - right ≤ below
	if b.Operator == "<" || b.Operator == ">" {
		below = -1
	}
	cmp := atMost(left, right, below)
	if cmp == nil {
		return nil
	}
	there := solve.And(left.there(), right.there())
	return &outcomes{solve.And(there, cmp), solve.And(there, solve.Not(cmp)), solve.Not(there)}
}

// there says that a number is not nil.
func (s side) there() *solve.Formula {
	if s.present == nil {
		return solve.True()
	}
	return s.present
}

// atMost says that a - b ≤ c, or nil if that is no difference of two numbers.
func atMost(a, b side, c int) *solve.Formula {
	plus, minus := slices.Concat(a.plus, b.minus), slices.Concat(a.minus, b.plus)
	for i := 0; i < len(plus); i++ {
		if j := slices.Index(minus, plus[i]); j >= 0 {
			plus, minus = slices.Delete(plus, i, i+1), slices.Delete(minus, j, j+1)
			i--
		}
	}
	c += b.c - a.c
	if len(plus) > 1 || len(minus) > 1 || c > solve.MaxConstant || c < -solve.MaxConstant {
		return nil
	}
	x, y := solve.Zero, solve.Zero
	if len(plus) == 1 {
		x = plus[0]
	}
	if len(minus) == 1 {
		y = minus[0]
	}
	return solve.AtMost(x, y, c)
}

// equal says that two sides are equal, or nil if the model cannot.
func (t *translator) equal(a, b side) *solve.Formula {
	if a.constant && !b.constant {
		a, b = b, a
	}
	switch {
	case a.constant && b.constant:
		if a.value == b.value {
			return solve.True()
		}
		return solve.False()
	case a.number && b.number:
		low, high := atMost(a, b, 0), atMost(b, a, 0)
		if low == nil || high == nil {
			return nil
		}
		both := solve.And(a.there(), b.there(), low, high)
		return solve.Or(both, solve.And(solve.Not(a.there()), solve.Not(b.there())))
	case a.number && b.constant:
		if b.value == nil {
			return solve.Not(a.there())
		}
		return nil
	case a.choice != nil && b.constant:
		eq := t.is(a.choice, b.value)
		if a.hasNil {
			isNil := t.is(a.choice, nil)
			eq = solve.And(eq, solve.Not(isNil))
			if a.isNil == b.value {
				eq = solve.Or(eq, isNil)
			}
		}
		return eq
	case a.choice != nil && b.choice != nil && !a.choice.open && !b.choice.open && !a.hasNil && !b.hasNil:
		var same []*solve.Formula
		for _, v := range a.choice.values {
			if slices.Contains(b.choice.values, v) {
				same = append(same, solve.And(t.is(a.choice, v), t.is(b.choice, v)))
			}
		}
		return solve.Or(same...)
	}
	return nil
}

// membership translates x in [a, b, …] and x in a..b.
func (t *translator) membership(b *ast.BinaryNode, sc *scope) *outcomes {
	left, ok := t.sideOf(b.Left, sc)
	if !ok {
		return nil
	}
	var is *solve.Formula
	switch list := b.Right.(type) {
	case *ast.ArrayNode:
		var one []*solve.Formula
		for _, e := range list.Nodes {
			right, ok := t.sideOf(e, sc)
			if !ok || !right.constant {
				return nil
			}
			eq := t.equal(left, right)
			if eq == nil {
				return nil
			}
			one = append(one, eq)
		}
		is = solve.Or(one...)
	case *ast.BinaryNode:
		if list.Operator != ".." {
			return nil
		}
		from, ok1 := t.sideOf(list.Left, sc)
		to, ok2 := t.sideOf(list.Right, sc)
		if !ok1 || !ok2 || !from.constant || !to.constant || !left.number || !from.number || !to.number || left.present != nil {
			return nil
		}
		low, high := atMost(from, left, 0), atMost(left, to, 0)
		if low == nil || high == nil {
			return nil
		}
		is = solve.And(low, high)
	default:
		return nil
	}
	return &outcomes{is, solve.Not(is), solve.False()}
}
