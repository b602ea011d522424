package rules

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// Budget bounds what one evaluation may spend, also on texts, effects and
// fingerprints. A zero field stands for its default: 10 million steps, 64 MiB.
//
// A step is one element visited, or 64 bytes of text read or made; an entry of an
// object takes five. A predicate takes a step for each element and for every four
// of its parts. A match costs the instructions of its pattern × the bytes it reads / 8,
// making a pattern 100 steps an instruction, and asking the world (exists, which, a
// function of your own) 1,000 steps. Bytes are those that lists, objects and texts take while they
// are made. Both are charged before the work is done, and by what is visited: a list
// that holds one part twice visits it twice.
type Budget struct {
	Steps int `json:"steps"`
	Bytes int `json:"bytes"`
}

const (
	defaultSteps = 10_000_000
	defaultBytes = 64 << 20

	askCost     = 1_000 // of a question to the world
	patternCost = 100   // of an instruction of a pattern that is made
	matchBytes  = 8     // of a text that one instruction reads in a step
	itemBytes   = 16    // of an element of a list that is made
	entryBytes  = 64    // of an entry of an object that is made
	objectBytes = 288   // of an object that is made, beside its entries
	entrySteps  = 5     // of an entry of an object that is visited: they are sorted, or looked up
	printBytes  = 24    // of an element that is written as text
	floatBytes  = 330   // of a number that is written in full, with all its zeros
)

// maxNesting bounds lists and objects inside one another. Loops can build deeper
// ones, which would overflow the stack of a function that walks them.
const maxNesting = 1_000

var (
	errSteps   = errors.New("the evaluation takes too many steps")
	errBytes   = errors.New("the evaluation needs too much memory")
	errNesting = fmt.Errorf("lists and objects are nested deeper than %d", maxNesting)
)

// meter counts what one evaluation spends. Its methods panic once the budget is
// spent or the context is done; over then says which, and Eval turns the panic
// into a verdict.
type meter struct {
	ctx   context.Context
	limit Budget
	spent Budget
	look  int   // steps at which the context is looked at again
	over  error // why the evaluation ends, nil while it goes on

	answers map[string]answer // of functions of the embedding program
}

// answer is what a function of the embedding program gave.
type answer struct {
	value any
	err   error
}

// meterKey is the name under which expressions find the meter. No policy can spell it.
const meterKey = "meter()"

// lookEvery is how many steps pass between two looks at the context.
const lookEvery = 10_000

// begin makes a meter anew.
func (m *meter) begin(ctx context.Context, b Budget) {
	if b.Steps <= 0 {
		b.Steps = defaultSteps
	}
	if b.Bytes <= 0 {
		b.Bytes = defaultBytes
	}
	m.ctx, m.limit, m.spent, m.look, m.over, m.answers = ctx, b, Budget{}, 0, nil, nil
}

// charge pays for work that is about to be done.
func (m *meter) charge(steps, bytes int) {
	m.spent.Steps = add(m.spent.Steps, steps)
	m.spent.Bytes = add(m.spent.Bytes, bytes)
	switch {
	case m.over != nil:
	case m.spent.Steps > m.limit.Steps:
		m.over = errSteps
	case m.spent.Bytes > m.limit.Bytes:
		m.over = errBytes
	case m.spent.Steps >= m.look:
		m.look = m.spent.Steps + lookEvery
		if m.ctx.Err() != nil {
			m.over = context.Cause(m.ctx)
		}
	}
	if m.over != nil {
		panic(m.over)
	}
}

// read pays for looking at n bytes of text.
func (m *meter) read(n int) { m.charge(1+n/64, 0) }

// text pays for making a text of n bytes.
func (m *meter) text(n int) { m.charge(1+n/64, n) }

// ask pays for a question to the world with an argument of n bytes.
func (m *meter) ask(n int) { m.charge(askCost+n/64, n) }

// print pays for writing a value as text.
func (m *meter) print(v any) {
	switch v := v.(type) {
	case nil, bool, int:
		m.charge(1, printBytes)
		return
	case string:
		m.text(len(v))
		return
	}
	s := m.writtenSize(v)
	m.charge(s.steps(), mul(add(s.escaped, mul(s.elements, printBytes)), 2)) // objects go through a buffer
}

// json pays for writing a value as JSON, with its escapes, each level indented.
func (m *meter) json(v any) {
	s := m.writtenSize(v)
	m.charge(add(s.steps(), s.escaped/16), mul(add(s.escaped, mul(s.elements, printBytes+2*s.depth)), 2)) // through a buffer
}

// left is how many steps there are still.
func (m *meter) left() int { return m.limit.Steps - m.spent.Steps }

// size is what a walk through a value visits.
type size struct {
	elements int // of all lists and objects, and the value itself
	entries  int // how many of them are entries of objects
	text     int // bytes of all texts, keys included
	depth    int // of the deepest element

	written bool // count escaped too, for which each byte is looked at
	escaped int  // the same texts as JSON writes them
}

// steps is what the walk costs.
func (s size) steps() int { return add(s.elements+(entrySteps-1)*s.entries, s.text/64) }

// sizeOf measures a value. It visits no more than the budget has left: what is
// larger is as good as endless.
func (m *meter) sizeOf(v any) size {
	s := size{}
	m.walk(v, 1, &s)
	return s
}

// writtenSize measures a value that is about to be written.
func (m *meter) writtenSize(v any) size {
	s := size{written: true}
	m.walk(v, 1, &s)
	return s
}

func (m *meter) walk(v any, depth int, s *size) {
	s.elements++
	if s.steps() > m.left() {
		m.charge(s.steps(), 0) // more than there is: panics
	}
	if depth > maxNesting {
		m.over = errNesting
		panic(m.over)
	}
	s.depth = max(s.depth, depth)
	switch v := v.(type) {
	case nil, bool, int:
	case float64:
		if f := math.Abs(v); f > 1e20 || f < 1e-5 {
			s.text, s.escaped = s.text+floatBytes, s.escaped+floatBytes
		}
	case string:
		s.add(v)
	case []any:
		for _, e := range v {
			m.walk(e, depth+1, s)
		}
	case map[string]any:
		s.entries += len(v)
		for k, e := range v {
			s.add(k)
			m.walk(e, depth+1, s)
		}
	case []string:
		s.elements = add(s.elements, len(v))
		for _, e := range v {
			s.add(e)
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

// add counts a text. How much JSON writes for it is guessed upwards by its
// controls, quotes and signs that are escaped.
func (s *size) add(text string) {
	s.text += len(text)
	if !s.written {
		return
	}
	s.escaped += len(text) + 2
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			s.escaped++
		case c < ' ' || c == '<' || c == '>' || c == '&' || c == 0xe2 || c >= 0x80 && c < 0xc0:
			s.escaped += 5
		}
	}
}

// add and mul stay at the largest number rather than wrap.
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
