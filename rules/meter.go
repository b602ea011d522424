package rules

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// Budget bounds what one evaluation may spend, including texts, effects and fingerprints. A zero field means its
// default: 10 million steps.
//
// A step is one element visited, 64 bytes of text read, or 8 bytes written: 10 million steps write at most 80 MB. An
// entry of an object takes five to visit. A predicate takes a step for each element and for every four of its parts. A
// match takes the instructions of its pattern × the bytes it reads / 8, compiling a pattern 100 steps an instruction,
// and a call to the world (exists, which, your own function) 1,000 steps. Work is charged in advance, and by what is
// visited: a list that contains one part twice visits it twice.
type Budget struct {
	Steps int `json:"steps"`
}

const (
	defaultSteps = 10_000_000

	askSteps     = 1_000 // for a call to the world
	patternSteps = 100   // for an instruction of a compiled pattern
	matchBytes   = 8     // of a string that one instruction reads in a step
	readBytes    = 64    // of a string, read in a step
	madeBytes    = 8     // written in a step
	itemSteps    = 2     // for an element of a new list
	keySteps     = 8     // for an entry of a new object
	objectSteps  = 36    // for a new object, without its entries
	visitSteps   = 5     // for visiting an entry of an object: they are sorted or looked up
	printSteps   = 6     // for an element written as text, through a buffer
	floatBytes   = 330   // of a number written in full, with all its zeros
)

// maxNesting bounds nested lists and objects. Loops can build deeper ones, which would overflow the stack of a
// recursive function.
const maxNesting = 1_000

var (
	errSteps   = errors.New("the evaluation takes too many steps")
	errNesting = fmt.Errorf("lists and objects are nested deeper than %d", maxNesting)
)

// meter counts what one evaluation spends. Its methods panic once the budget is spent or the context is done; over then
// has the reason, and Eval turns the panic into a verdict.
type meter struct {
	ctx   context.Context
	limit int // steps
	spent int
	look  int   // the count at which to check context and limit again, 0 for now
	over  error // why the evaluation ends, nil before

	answers map[string]answer // of functions of the embedding program
}

// answer is the result of a function of the embedding program.
type answer struct {
	value any
	err   error
}

// meterKey is the meter's name in expressions. No policy can spell it.
const meterKey = "meter()"

// lookEvery is how many steps pass between checks of the context.
const lookEvery = 10_000

// begin sets the budget of a zero meter.
func (m *meter) begin(ctx context.Context, b Budget) {
	if m.ctx, m.limit = ctx, b.Steps; b.Steps <= 0 {
		m.limit = defaultSteps
	}
}

// charge counts work that is about to be done.
func (m *meter) charge(steps int) {
	if m.spent += steps; uint(m.spent) >= uint(m.look) {
		m.check()
	}
}

// check ends the evaluation if it must. A sum that overflowed is the largest number.
func (m *meter) check() {
	if m.spent < 0 {
		m.spent = math.MaxInt
	}
	switch {
	case m.over != nil:
	case m.spent > m.limit:
		m.over = errSteps
	case m.ctx.Err() != nil:
		m.over = context.Cause(m.ctx)
	}
	if m.over != nil {
		m.look = 0
		panic(m.over)
	}
	m.look = min(m.spent, m.limit-lookEvery) + lookEvery
}

// read charges for reading n bytes of text.
func (m *meter) read(n int) { m.charge(1 + n/readBytes) }

// text charges for writing n bytes of text.
func (m *meter) text(n int) { m.charge(1 + n/madeBytes) }

// ask charges for a call to the world with an argument of n bytes.
func (m *meter) ask(n int) { m.charge(askSteps + n/madeBytes) }

// print charges for writing a value as text.
func (m *meter) print(v any) {
	switch v := v.(type) {
	case nil, bool, int:
		m.charge(printSteps)
	case string:
		m.text(len(v))
	default:
		m.write(v)
	}
}

// write charges for writing a value as JSON: each level is indented, and a byte may become six.
func (m *meter) write(v any) {
	s := m.sizeOf(v)
	m.charge(add(add(s.steps(), mul(s.elements, printSteps+s.depth/2)), mul(s.text, 2*6)/madeBytes))
}

// left returns how many steps remain.
func (m *meter) left() int { return m.limit - m.spent }

// size is what visiting a value takes.
type size struct {
	elements int // of all lists and objects, and the value itself
	entries  int // how many of them are entries of objects
	text     int // bytes of all strings, including keys
	depth    int // of the deepest element
}

// steps returns the cost of the visit.
func (s size) steps() int { return add(s.elements+(visitSteps-1)*s.entries, s.text/readBytes) }

// sizeOf measures a value. It visits no more than the budget has left: anything larger is too large anyway.
func (m *meter) sizeOf(v any) size {
	s := size{}
	m.walk(v, 1, &s)
	return s
}

// copy charges for a value that is copied completely.
func (m *meter) copy(v any) {
	s := m.sizeOf(v)
	m.charge(add(s.steps(), mul(s.elements, keySteps)))
}

func (m *meter) walk(v any, depth int, s *size) {
	s.elements++
	if s.steps() > m.left() {
		m.charge(s.steps()) // more than is left: panics
	}
	if depth > maxNesting {
		m.over = errNesting
		m.check()
	}
	s.depth = max(s.depth, depth)
	switch v := v.(type) {
	case nil, bool, int:
	case float64:
		if f := math.Abs(v); f > 1e20 || f < 1e-5 {
			s.text += floatBytes
		}
	case string:
		s.text += len(v)
	case []any:
		for _, e := range v {
			m.walk(e, depth+1, s)
		}
	case map[string]any:
		s.entries += len(v)
		for k, e := range v {
			s.text += len(k)
			m.walk(e, depth+1, s)
		}
	case []string:
		s.elements = add(s.elements, len(v))
		for _, e := range v {
			s.text += len(e)
		}
	case []int:
		s.elements = add(s.elements, len(v))
	default:
		rv := reflect.ValueOf(v)
		switch rv.Kind() {
		case reflect.Slice, reflect.Array:
			for i := range rv.Len() {
				m.walk(rv.Index(i).Interface(), depth+1, s)
			}
		case reflect.Map:
			for it := rv.MapRange(); it.Next(); {
				m.walk(it.Key().Interface(), depth+1, s)
				m.walk(it.Value().Interface(), depth+1, s)
			}
		}
	}
}

// add and mul saturate instead of overflowing.
func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func mul(a, b int) int {
	if a > 0 && b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
