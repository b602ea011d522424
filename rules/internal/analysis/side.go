package analysis

import "slices"

// A Side is what a comparison compares: a constant, a choice, or a sum of numbers.
type Side struct {
	constant bool
	value    any // of a constant

	choice *Quantity
	isNil  any // what it is taken for when it is nil, if hasNil
	hasNil bool

	number  bool
	plus    []Var
	minus   []Var
	c       int
	present *Formula // nil if it is never nil
}

// Constant returns the side of a constant; false if it is no plain value.
func Constant(v any) (Side, bool) {
	s := Side{constant: true, value: v}
	switch v := v.(type) {
	case nil, string, bool:
	case int:
		s.number, s.c = true, v
		return s, v <= MaxConstant && v >= -MaxConstant
	default:
		return Side{}, false
	}
	return s, true
}

// Constant reports whether the side is a constant.
func (s Side) Constant() bool { return s.constant }

// Side returns the side that a quantity is.
func (q *Quantity) Side() Side {
	if !q.Number {
		return Side{choice: q}
	}
	s := Side{number: true, plus: []Var{q.Var}}
	if q.nilable {
		s.present = In(q.presence, 1)
	}
	return s
}

// Negated returns -s; false if s is no number for certain.
func (s Side) Negated() (Side, bool) {
	out := Side{constant: s.constant, number: true, plus: s.minus, minus: s.plus, c: -s.c}
	if out.constant {
		out.value = out.c
	}
	return out, s.number && s.present == nil
}

// Plus returns s + b; false if one of them is no number for certain.
func (s Side) Plus(b Side) (Side, bool) {
	if !s.number || !b.number || s.present != nil || b.present != nil {
		return Side{}, false
	}
	out := Side{number: true, plus: slices.Concat(s.plus, b.plus), minus: slices.Concat(s.minus, b.minus), c: s.c + b.c}
	if s.constant && b.constant {
		out.constant, out.value = true, out.c
	}
	return out, out.c <= MaxConstant && out.c >= -MaxConstant
}

// Or returns s ?? b.
func (s Side) Or(b Side) (Side, bool) {
	switch {
	case s.choice != nil && b.constant && !s.hasNil:
		s.isNil, s.hasNil = b.value, true
		return s, true
	case s.number && s.present == nil:
		return s, true
	}
	return Side{}, false
}

// Truth returns when a side is true and false; nil if it is never either.
func (m *Model) Truth(s Side) *Outcomes {
	if b, is := s.value.(bool); s.constant && is {
		return Always(b)
	}
	if s.choice == nil {
		return nil
	}
	yes, no := m.Is(s.choice, true), m.Is(s.choice, false)
	return &Outcomes{yes, no, And(Not(yes), Not(no))}
}

// Compare returns how a comparison comes out; nil if the model cannot express it.
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
	if !low.constant || !high.constant || !s.number || !low.number || !high.number || s.present != nil {
		return nil
	}
	above, below := difference(low, s, 0), difference(s, high, 0)
	if above == nil || below == nil {
		return nil
	}
	return When(And(above, below))
}

// there says that a number is not nil.
func (s Side) there() *Formula {
	if s.present == nil {
		return True()
	}
	return s.present
}

// difference says that a - b ≤ c, or nil if that is no difference of two numbers.
func difference(a, b Side, c int) *Formula {
	plus, minus := slices.Concat(a.plus, b.minus), slices.Concat(a.minus, b.plus)
	for i := 0; i < len(plus); i++ {
		if j := slices.Index(minus, plus[i]); j >= 0 {
			plus, minus = slices.Delete(plus, i, i+1), slices.Delete(minus, j, j+1)
			i--
		}
	}
	c += b.c - a.c
	if len(plus) > 1 || len(minus) > 1 || c > MaxConstant || c < -MaxConstant {
		return nil
	}
	x, y := Zero, Zero
	if len(plus) == 1 {
		x = plus[0]
	}
	if len(minus) == 1 {
		y = minus[0]
	}
	return AtMost(x, y, c)
}

// Equal says that two sides are equal, or nil if the model cannot.
func (m *Model) Equal(a, b Side) *Formula {
	if a.constant && !b.constant {
		a, b = b, a
	}
	switch {
	case a.constant && b.constant:
		return Always(a.value == b.value).Yes
	case a.number && b.number:
		low, high := difference(a, b, 0), difference(b, a, 0)
		if low == nil || high == nil {
			return nil
		}
		return Or(And(a.there(), b.there(), low, high), And(Not(a.there()), Not(b.there())))
	case a.number && b.constant && b.value == nil:
		return Not(a.there())
	case a.choice != nil && b.constant:
		eq := m.Is(a.choice, b.value)
		if a.hasNil {
			isNil := m.Is(a.choice, nil)
			eq = And(eq, Not(isNil))
			if a.isNil == b.value {
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
