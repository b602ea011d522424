package analysis

import (
	"maps"
	"slices"
)

// A Side is one side of a comparison: a constant, a choice, or a sum of numbers. The zero Side is nil.
type Side struct {
	value any // of a constant that is not a number

	choice *Quantity
	isNil  any // the value that replaces nil, if hasNil
	hasNil bool

	number  bool
	terms   map[Var]int // the coefficient of each number
	c       int
	present *Formula // nil if it is never nil
}

// Constant returns a constant as a side; ok is false for lists and objects.
func Constant(v any) (Side, bool) {
	switch v := v.(type) {
	case nil, string, bool:
		return Side{value: v}, true
	case int:
		return Side{number: true, c: v}, v <= MaxConstant && v >= -MaxConstant
	}
	return Side{}, false
}

// Constant returns the value of a constant; ok is false if the side is not one.
func (s Side) Constant() (any, bool) {
	if s.number {
		return s.c, len(s.terms) == 0
	}
	return s.value, s.choice == nil
}

// Side returns the quantity as a side.
func (q *Quantity) Side() Side {
	if !q.Number {
		return Side{choice: q}
	}
	s := Side{number: true, terms: map[Var]int{q.Var: 1}}
	if q.nilable {
		s.present = In(q.presence, 1)
	}
	return s
}

// Plus returns s + b, or s - b if sign is -1; ok is false unless both are certainly numbers.
func (s Side) Plus(b Side, sign int) (Side, bool) {
	out := Side{number: true, terms: map[Var]int{}, c: s.c + sign*b.c}
	maps.Copy(out.terms, s.terms)
	for v, n := range b.terms {
		out.terms[v] += sign * n
	}
	maps.DeleteFunc(out.terms, func(_ Var, n int) bool { return n == 0 })
	certain := s.number && b.number && s.present == nil && b.present == nil
	return out, certain && out.c <= MaxConstant && out.c >= -MaxConstant
}

// Or returns s ?? b.
func (s Side) Or(b Side) (Side, bool) {
	switch {
	case s.choice != nil && !s.hasNil:
		s.isNil, s.hasNil = b.Constant()
		return s, s.hasNil
	default:
		return s, s.number && s.present == nil
	}
}

// Truth returns when a side is true and false; nil if it is not a boolean.
func (m *Model) Truth(s Side) *Outcomes {
	if b, is := s.value.(bool); is {
		return Always(b)
	}
	if s.choice == nil {
		return nil
	}
	yes, no := m.Is(s.choice, true), m.Is(s.choice, false)
	return &Outcomes{yes, no, And(Not(yes), Not(no))}
}

// Compare returns the outcomes of a comparison; nil if the model cannot express it.
func (m *Model) Compare(op string, left, right Side) *Outcomes {
	switch op {
	case "==", "!=":
		eq := m.Equal(left, right)
		switch {
		case eq == nil:
			return nil
		case op == "!=":
			return When(eq).Not()
		}
		return When(eq)
	case ">", ">=":
		left, right = right, left
	}
	if !left.number || !right.number {
		return nil
	}
	below := 0 // left - right ≤ below
	if op == "<" || op == ">" {
		below = -1
	}
	cmp := difference(left, right, below)
	if cmp == nil {
		return nil
	}
	there := And(left.there(), right.there())
	return &Outcomes{And(there, cmp), And(there, Not(cmp)), Not(there)}
}

// Within returns when a side is one of the numbers from low to high.
func (s Side) Within(low, high Side) *Outcomes {
	if !s.number || !low.number || !high.number || len(low.terms)+len(high.terms) > 0 || s.present != nil {
		return nil
	}
	above, below := difference(low, s, 0), difference(s, high, 0)
	if above == nil || below == nil {
		return nil
	}
	return When(And(above, below))
}

// there returns a formula for: a number is not nil.
func (s Side) there() *Formula {
	if s.present == nil {
		return True()
	}
	return s.present
}

// difference returns a formula for a - b ≤ c, or nil if that is not a difference of two numbers.
func difference(a, b Side, c int) *Formula {
	sum, _ := a.Plus(b, -1)
	x, y := Zero, Zero
	for v, n := range sum.terms {
		switch {
		case n == 1 && x == Zero:
			x = v
		case n == -1 && y == Zero:
			y = v
		default:
			return nil
		}
	}
	if c -= sum.c; c > MaxConstant || c < -MaxConstant {
		return nil
	}
	return AtMost(x, y, c)
}

// Equal returns a formula for: two sides are equal, or nil if the model cannot express it.
func (m *Model) Equal(a, b Side) *Formula {
	if _, constant := b.Constant(); !constant {
		a, b = b, a
	}
	left, constant := a.Constant()
	value, fixed := b.Constant()
	switch {
	case constant && fixed:
		return Always(left == value).Yes
	case a.number && b.number:
		low, high := difference(a, b, 0), difference(b, a, 0)
		if low == nil || high == nil {
			return nil
		}
		return Or(And(a.there(), b.there(), low, high), And(Not(a.there()), Not(b.there())))
	case a.number && fixed && value == nil:
		return Not(a.there())
	case a.choice != nil && fixed:
		eq := m.Is(a.choice, value)
		if a.hasNil {
			isNil := m.Is(a.choice, nil)
			eq = And(eq, Not(isNil))
			if a.isNil == value {
				eq = Or(eq, isNil)
			}
		}
		return eq
	case a.choice != nil && b.choice != nil && !a.choice.Open && !b.choice.Open && !a.hasNil && !b.hasNil:
		var same []*Formula
		for _, v := range a.choice.Values {
			if slices.Contains(b.choice.Values, v) {
				same = append(same, And(m.Is(a.choice, v), m.Is(b.choice, v)))
			}
		}
		return Or(same...)
	}
	return nil
}
