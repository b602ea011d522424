package analysis

import (
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// Bounds of the analyses, in looks at one atom of a condition. What they do not
// reach is not reported: an analysis that gives up finds nothing.
const (
	stepsPerQuestion = 50_000
	stepsPerPolicy   = 12_000_000
)

// A Model is what is known of the world: the quantities on which decisions depend, and what
// always holds of them.
type Model struct {
	*Space
	always []*Formula // what holds in every state
	left   int        // steps
}

// NewModel returns a model without quantities.
func NewModel() *Model { return &Model{Space: NewSpace(), left: stepsPerPolicy} }

// Always adds what holds in every state.
func (m *Model) Always(f *Formula) { m.always = append(m.always, f) }

// Solver returns a solver that knows what always holds. All quantities must be known by then.
func (m *Model) Solver() *Solver {
	s := NewSolver(m.Space)
	s.Add(m.always...)
	return s
}

// Ask looks for a state in which fs hold, of the steps that are left.
func (m *Model) Ask(s *Solver, fs ...*Formula) (r Result) {
	if m.left > 0 {
		r = s.Solve(min(stepsPerQuestion, m.left), fs...)
		m.left -= r.Steps
	}
	return r
}

// Answer reports whether there is a state in which fs hold.
func (m *Model) Answer(s *Solver, fs ...*Formula) Status {
	if m.left <= 0 {
		return GaveUp
	}
	status, steps := s.Try(min(stepsPerQuestion, m.left), fs...)
	m.left -= steps
	return status
}

// A Quantity is a value of a model: a choice among values, or a number.
type Quantity struct {
	Var    Var
	Number bool
	Values []any // of a choice, by their number
	Open   bool  // Values[0] is any value that is not named

	nonempty bool // a string that is never ""
	nilable  bool
	presence Var // of a number that can be nil, a choice: 0 it is nil, 1 it is not
}

// Choice returns a quantity that is one of so many things.
func (m *Model) Choice(size, prefer int) Quantity {
	return Quantity{Var: m.Space.Choice(size, prefer)}
}

// Opaque returns a choice of which nothing is known.
func (m *Model) Opaque(size int) Quantity { return Quantity{Var: m.Space.Opaque(size)} }

// unnamed stands in the values of an open choice for all that no rule names.
type unnamed struct{}

// maxEnum bounds the values of an enum that the model follows one by one.
const maxEnum = 256

// OfType returns a quantity of a schema type; false if the model cannot express it. Its
// bounds count if bounded says so; nonempty says that a string is never "".
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
	q.Var = m.Space.Choice(len(q.Values), max(0, slices.Index(q.Values, prefer)))
	return q, true
}

// CanBeNil reports whether a field of a type can turn out to hold nothing.
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
	// A default can be beyond the bounds.
	if d, ok := typ.Default.(int); ok && typ.HasDefault {
		low, high = min(low, d), max(high, d)
	}
	q.Var = m.Int(low, high, want)
	if q.nilable {
		q.presence = m.Space.Choice(2, 1)
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

// Is says that a choice has this value. A value that it can never have is never there.
func (m *Model) Is(q *Quantity, value any) *Formula {
	i := slices.Index(q.Values, value)
	if i < 0 {
		s, text := value.(string)
		if !q.Open || q.nonempty && text && s == "" {
			return False()
		}
		i = m.Widen(q.Var)
		q.Values = append(q.Values, value)
	}
	return In(q.Var, i)
}

// Value returns the value that a quantity has in a result; asked is false if it does not
// matter.
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
	text := "something" // that no rule names
	for slices.Contains(q.Values, any(text)) {
		text += " else"
	}
	return text, true
}
