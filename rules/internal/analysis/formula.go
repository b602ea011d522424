package analysis

import "slices"

// Var is a variable of a [Space]. The zero Var is the number 0, see [Zero].
type Var int32

// Zero is a whole number that is always 0: x - Zero ≤ 5 says that x ≤ 5.
const Zero Var = 0

// MaxConstant is the largest constant, up and down, that may stand in [AtMost] and
// as a bound of [Space.Int]. It keeps every sum of constants far from overflow.
const MaxConstant = 1 << 40

// Space declares the variables that formulas speak of. Declare, then solve: a
// [Solver] knows the variables that there were when it was made. A Space is not
// safe for concurrent use.
type Space struct {
	vars []variable
}

type variable struct {
	size   int // of a choice: its values are 0 … size-1; 0 for a whole number
	opaque bool
	prefer int // the value that witnesses take if they may
	min    int // of a whole number
	max    int
}

// NewSpace gives a space without variables.
func NewSpace() *Space {
	return &Space{vars: []variable{{min: 0, max: 0}}}
}

// Choice declares a variable with the values 0 … size-1, of which witnesses
// prefer the given one.
func (s *Space) Choice(size, prefer int) Var {
	return s.declare(variable{size: size, prefer: prefer})
}

// Opaque declares a choice whose meaning is not known. What can be satisfied only
// by choosing its value is [Maybe] satisfiable.
func (s *Space) Opaque(size int) Var {
	return s.declare(variable{size: size, opaque: true})
}

// Int declares a whole number between min and max, of which witnesses prefer
// the one nearest to prefer. A bound beyond MaxConstant is no bound, nor are two
// bounds that no number lies between.
func (s *Space) Int(minimum, maximum, prefer int) Var {
	if minimum > maximum {
		minimum, maximum = -infinite, infinite
	}
	if minimum < -MaxConstant {
		minimum = -infinite
	}
	if maximum > MaxConstant {
		maximum = infinite
	}
	return s.declare(variable{min: minimum, max: maximum, prefer: prefer})
}

// Widen gives a choice one value more and returns that value.
func (s *Space) Widen(v Var) int {
	s.vars[v].size++
	return s.vars[v].size - 1
}

func (s *Space) declare(v variable) Var {
	s.vars = append(s.vars, v)
	return Var(len(s.vars) - 1)
}

// infinite stands for no bound. It is far above every sum of constants and far
// below what overflows when two of them are added.
const infinite = 1 << 61

type operator uint8

const (
	isTrue operator = iota
	isFalse
	all
	some
	in     // v is one of set
	notIn  // v is none of set
	atMost // v - w ≤ c
)

// Formula is a condition that holds or does not, in negation normal form. It is
// made by the functions of this package and not changed afterwards, but it caches
// its negation: it is not safe for concurrent use.
type Formula struct {
	op   operator
	v, w Var
	c    int
	set  bits
	kids []*Formula
	not  *Formula
	vars []Var // that occur in it, each once
	size int   // atoms that are looked at to evaluate it
}

// True holds always.
func True() *Formula { return &Formula{op: isTrue} }

// False holds never.
func False() *Formula { return &Formula{op: isFalse} }

// In holds if the choice v has one of the values.
func In(v Var, values ...int) *Formula {
	if len(values) == 0 {
		return False()
	}
	f := &Formula{op: in, v: v, vars: []Var{v}, size: 1}
	for _, x := range values {
		f.set.add(x)
	}
	return f
}

// AtMost holds if x - y ≤ c, for whole numbers x and y. c lies within ±MaxConstant.
func AtMost(x, y Var, c int) *Formula {
	if x == y {
		if 0 <= c {
			return True()
		}
		return False()
	}
	f := &Formula{op: atMost, v: x, w: y, c: c, size: 1}
	for _, v := range []Var{x, y} {
		if v != Zero {
			f.vars = append(f.vars, v)
		}
	}
	return f
}

// And holds if all of fs do.
func And(fs ...*Formula) *Formula { return join(all, isTrue, isFalse, fs) }

// Or holds if one of fs does.
func Or(fs ...*Formula) *Formula { return join(some, isFalse, isTrue, fs) }

// join makes a formula of parts: neutral ones are left out, a deciding one is the
// whole, and parts with the same operator are taken apart.
func join(op, neutral, deciding operator, fs []*Formula) *Formula {
	var kids []*Formula
	for _, f := range fs {
		switch f.op {
		case neutral:
		case deciding:
			return f
		case op:
			kids = append(kids, f.kids...)
		default:
			kids = append(kids, f)
		}
	}
	switch len(kids) {
	case 0:
		return &Formula{op: neutral}
	case 1:
		return kids[0]
	}
	out := &Formula{op: op, kids: kids}
	for _, k := range kids {
		out.vars = append(out.vars, k.vars...)
		out.size = min(out.size+k.size, infinite)
	}
	slices.Sort(out.vars)
	out.vars = slices.Compact(out.vars)
	return out
}

// Not holds if f does not.
func Not(f *Formula) *Formula {
	if f.not != nil {
		return f.not
	}
	n := &Formula{v: f.v, w: f.w, c: f.c, set: f.set, vars: f.vars, size: f.size}
	switch f.op {
	case isTrue:
		n.op = isFalse
	case isFalse:
		n.op = isTrue
	case in:
		n.op = notIn
	case notIn:
		n.op = in
	case atMost: // not x-y ≤ c is y-x ≤ -c-1, since the numbers are whole
		n.op, n.v, n.w, n.c = atMost, f.w, f.v, -f.c-1
	case all, some:
		n.op = all
		if f.op == all {
			n.op = some
		}
		n.kids = make([]*Formula, len(f.kids))
		for i, k := range f.kids {
			n.kids[i] = Not(k)
		}
	}
	f.not, n.not = n, f
	return n
}

// Vars lists the variables that occur in f, each once. It must not be changed.
func (f *Formula) Vars() []Var { return f.vars }

// Size is how many atoms stand in f, those of shared parts counted each time.
func (f *Formula) Size() int { return f.size }
