// Package analysis answers whether conditions can hold together, and in which state.
//
// A [Model] has quantities: choices among values, and whole numbers. Conditions become [Outcomes], three formulas for
// when a condition is true, false and broken. [Model.Answer] decides whether formulas can hold together.
//
// There are two kinds of atoms: a choice has one of some values, and the difference of two whole numbers is at most a
// constant. With and, or and not this is enough for enums, booleans, bounds of numbers and comparisons, and the results
// are exact: [Unsat] is never wrong, and [Sat] has values that satisfy everything. Other conditions are opaque choices.
// If formulas hold only for certain values of opaque choices, the answer is [Maybe], and if the search takes too long,
// it is [GaveUp].
//
// The package leaves out policies. Start with [NewModel].
package analysis

import "math/big"

// Limits of the analyses, in evaluations of atoms. An analysis beyond them reports nothing.
const (
	stepsPerQuestion = 50_000
	stepsPerPolicy   = 12_000_000
)

// Model has quantities and the conditions that they always satisfy. It is not safe for concurrent use.
type Model struct {
	Steps int // limit for one question
	left  int // remaining steps for all questions

	vars    []variable
	choices []*big.Int // the remaining values of each choice
	numbers numbers

	conds []*Formula
	done  []bool // conditions that already hold
	watch [][]int32

	undo    []change
	dirty   varSet // variables with conditions to check
	asked   question
	scratch big.Int
}

// question is how far the search for the answer to one question is.
type question struct {
	steps   int
	budget  int // limit of steps
	guesses int // opaque choices made
	maybe   bool
}

// varSet is a set of variables, in the order in which they were added.
type varSet struct {
	list []Var
	has  []bool // by variable
}

func (s *varSet) add(v Var) {
	if !s.has[v] {
		s.has[v] = true
		s.list = append(s.list, v)
	}
}

// pop removes and returns the variable that was added last.
func (s *varSet) pop() Var {
	v := s.list[len(s.list)-1]
	s.list = s.list[:len(s.list)-1]
	s.has[v] = false
	return v
}

func (s *varSet) clear() {
	for _, v := range s.list {
		s.has[v] = false
	}
	s.list = s.list[:0]
}

type variable struct {
	values *big.Int // of a choice; nil for a number
	opaque bool
	prefer int // the preferred value for situations
}

// NewModel returns a model without quantities.
func NewModel() *Model {
	m := &Model{Steps: stepsPerQuestion, left: stepsPerPolicy}
	m.numbers.changed = m.touch
	m.declare(variable{}, 0, 0)
	return m
}

// Choice declares a variable with the values 0 … size-1. Situations use the value prefer if possible.
func (m *Model) Choice(size, prefer int) Var {
	values := big.NewInt(1)
	return m.declare(variable{values: values.Sub(values.Lsh(values, uint(size)), big.NewInt(1)), prefer: prefer}, 0, 0)
}

// Opaque declares a choice of unknown meaning. If a condition needs certain values of it, the answer is [Maybe].
func (m *Model) Opaque(size int) Var {
	v := m.Choice(size, 0)
	m.vars[v].opaque = true
	return v
}

// Int declares a whole number from minimum to maximum. Situations use the value nearest to prefer. A bound beyond
// MaxConstant is ignored, and so are two bounds without a number between them.
func (m *Model) Int(minimum, maximum, prefer int) Var {
	if minimum < -MaxConstant || minimum > maximum {
		minimum = -infinite
	}
	if maximum > MaxConstant || minimum > maximum {
		maximum = infinite
	}
	return m.declare(variable{prefer: prefer}, minimum, maximum)
}

func (m *Model) declare(v variable, minimum, maximum int) Var {
	m.vars, m.choices = append(m.vars, v), append(m.choices, v.values)
	m.watch, m.dirty.has = append(m.watch, nil), append(m.dirty.has, false)
	m.numbers.declare(v.values == nil, minimum, maximum)
	return Var(len(m.vars) - 1)
}

// widen adds a value to a choice and returns it.
func (m *Model) widen(v Var) int {
	values := m.vars[v].values
	size := values.BitLen()
	m.vars[v].values = new(big.Int).SetBit(values, size, 1)
	m.choices[v] = m.vars[v].values
	return size
}

// Always adds formulas that hold in every state.
func (m *Model) Always(fs ...*Formula) {
	for _, f := range fs {
		if f.op == all {
			m.Always(f.kids...)
			continue
		}
		for _, v := range f.vars {
			m.watch[v] = append(m.watch[v], int32(len(m.conds)))
		}
		m.conds, m.done = append(m.conds, f), append(m.done, false)
	}
}

// Status is the answer to a question. The zero Status is GaveUp: nothing is known.
type Status uint8

// The answers.
const (
	GaveUp Status = iota // the search was too long
	Unsat                // no values satisfy the conditions
	Maybe                // only certain values of opaque choices satisfy them
	Sat                  // the values of the Result satisfy them, whatever the opaque choices
)

// String returns the answer in words, for tests.
func (s Status) String() string {
	return [...]string{"gave up", "unsat", "maybe", "sat"}[s]
}

// Result is a state in which conditions hold. The zero Result has no values.
type Result struct {
	values []int
	asked  []bool
}

// Value returns the value of a variable. asked is false if no condition depended on it, so that any value is possible.
func (r *Result) Value(v Var) (value int, asked bool) { return r.values[v], r.asked[v] }

// Answer returns whether fs can hold together, within the remaining steps.
func (m *Model) Answer(fs ...*Formula) Status {
	status, _ := m.solve(fs, false)
	return status
}

// Ask returns a state in which fs hold, or nil if the answer is not [Sat].
func (m *Model) Ask(fs ...*Formula) (Status, *Result) { return m.solve(fs, true) }

func (m *Model) solve(fs []*Formula, values bool) (status Status, r *Result) {
	if m.left <= 0 {
		return GaveUp, nil
	}
	base := len(m.conds)
	m.Always(fs...)
	m.asked = question{budget: min(m.Steps, m.left)}
	choices, numbers := len(m.undo), m.numbers.mark()
	status = m.search(base, m.begin(base), false)
	switch {
	case status == Unsat && m.asked.maybe:
		status = Maybe
	case status == Sat && values:
		r = m.capture()
	}
	m.back(choices, numbers)
	m.drop(base)
	m.left -= m.asked.steps
	return status, r
}

// drop removes the conditions from base on.
func (m *Model) drop(base int) {
	for i := len(m.conds) - 1; i >= base; i-- {
		for _, v := range m.conds[i].vars {
			m.watch[v] = m.watch[v][:len(m.watch[v])-1]
		}
	}
	m.conds, m.done = m.conds[:base], m.done[:base]
}
