package analysis

import (
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// A Quantity is a value of a model: a choice among values, or a number.
type Quantity struct {
	Var    Var
	Number bool
	Values []any // of a choice, by index
	Open   bool  // Values[0] is any unnamed value

	nonempty bool // a string that is never ""
	nilable  bool
	presence Var // for a number that can be nil: a choice, 0 for nil
}

// unnamed is the value of an open choice for everything that no rule names.
type unnamed struct{}

// maxEnum bounds the values of an enum in a model.
const maxEnum = 256

// OfType returns a quantity of a schema type; ok is false if the model cannot express it. bounded says that its bounds
// count, nonempty that a string is never "".
func (m *Model) OfType(typ *schema.Schema, prefer any, bounded, nonempty bool) (Quantity, bool) {
	q := Quantity{nilable: CanBeNil(typ), nonempty: nonempty}
	if len(typ.Enum) > maxEnum {
		return q, false
	}
	switch {
	case typ.Kind == schema.Int:
		return m.number(q, typ, prefer, bounded), true
	case typ.Kind == schema.Bool && len(typ.Enum) == 0:
		q.Values = []any{false, true}
	case len(typ.Enum) > 0:
		q.Values = typ.Enum
	case typ.Kind == schema.String:
		q.Values, q.Open = []any{unnamed{}}, true
	default:
		return q, false
	}
	values := slices.Clone(q.Values)
	if typ.HasDefault && !q.Open {
		values = append(values, typ.Default)
	}
	if q.nilable {
		values = append(values, nil)
	}
	if s, ok := prefer.(string); ok && q.Open && !(nonempty && s == "") {
		values = append(values, s)
	}
	q.Values = nil
	for _, v := range values {
		switch v.(type) {
		case string, bool, int, nil, unnamed:
		default:
			return q, false
		}
		if !slices.Contains(q.Values, v) {
			q.Values = append(q.Values, v)
		}
	}
	q.Var = m.Choice(len(q.Values), max(0, slices.Index(q.Values, prefer)))
	return q, true
}

// CanBeNil reports whether a field of a type can be nil.
func CanBeNil(t *schema.Schema) bool { return !t.HasDefault && (t.Optional || t.Nullable) }

func (m *Model) number(q Quantity, typ *schema.Schema, prefer any, bounded bool) Quantity {
	q.Number = true
	low, high := -MaxConstant-1, MaxConstant+1
	within := func(f *float64) bool { return bounded && f != nil && *f >= -MaxConstant && *f <= MaxConstant }
	if within(typ.Min) {
		low = int(*typ.Min)
	}
	if within(typ.Max) {
		high = int(*typ.Max)
	}
	want, _ := prefer.(int)
	// A default may be out of bounds.
	if d, ok := typ.Default.(int); ok && typ.HasDefault {
		low, high = min(low, d), max(high, d)
	}
	q.Var = m.Int(low, high, want)
	if q.nilable {
		q.presence = m.Choice(2, 1)
	}
	if len(typ.Enum) == 0 {
		return q
	}
	values := typ.Enum
	if typ.HasDefault {
		values = append(slices.Clone(values), typ.Default)
	}
	var one []*Formula
	for _, v := range values {
		if i, ok := v.(int); ok && i <= MaxConstant && i >= -MaxConstant {
			one = append(one, And(AtMost(q.Var, Zero, i), AtMost(Zero, q.Var, -i)))
		}
	}
	m.Always(Or(one...))
	return q
}

// Is returns a formula for: a choice has this value. It never holds for a value outside of the choice.
func (m *Model) Is(q *Quantity, value any) *Formula {
	i := slices.Index(q.Values, value)
	if i < 0 {
		s, text := value.(string)
		if !q.Open || q.nonempty && text && s == "" {
			return False()
		}
		i = m.widen(q.Var)
		q.Values = append(q.Values, value)
	}
	return In(q.Var, i)
}

// Value returns the value of a quantity in a result; asked is false if it does not matter.
func (q *Quantity) Value(r *Result) (value any, asked bool) {
	i, asked := r.Value(q.Var)
	if q.nilable && q.Number {
		if present, known := r.Value(q.presence); known && present == 0 {
			return nil, true
		} else if known {
			asked = true
		}
	}
	switch {
	case !asked || q.Number || q.Values == nil:
		return i, asked
	case q.Values[i] != unnamed{}:
		return q.Values[i], true
	}
	text := "something" // a value that no rule names
	for slices.Contains(q.Values, any(text)) {
		text += " else"
	}
	return text, true
}
