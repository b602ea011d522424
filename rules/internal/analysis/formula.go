package analysis

import (
	"math/big"
	"slices"
)

// Var is a variable of a [Model]. The zero Var is the number 0, see [Zero].
type Var int32

// Zero is a whole number that is always 0: x - Zero ≤ 5 says that x ≤ 5.
const Zero Var = 0

// MaxConstant is the largest constant, up and down, of [AtMost] and of the bounds of
// [Model.Int]. It keeps every sum of constants far from overflow.
const MaxConstant = 1 << 40

type operator uint8

const (
	all    operator = iota // true if it has no parts
	some                   // false if it has no parts
	in                     // v is one of set
	notIn                  // v is none of set
	atMost                 // v - w ≤ c
)

// Formula is a condition that holds or does not, in negation normal form. It is
// made by the functions of this package and not changed afterwards, but it caches
// its negation: it is not safe for concurrent use.
type Formula struct {
	op   operator
	v, w Var
	c    int
	set  *big.Int
	kids []*Formula
	not  *Formula
	vars []Var // that occur in it, each once
	size int   // atoms that are looked at to evaluate it
}

// True holds always.
func True() *Formula { return And() }

// False holds never.
func False() *Formula { return Or() }

// In holds if the choice v has one of the values.
func In(v Var, values ...int) *Formula {
	f := &Formula{op: in, v: v, vars: []Var{v}, size: 1, set: new(big.Int)}
	for _, x := range values {
		f.set.SetBit(f.set, x, 1)
	}
	return f
}

// AtMost holds if x - y ≤ c, for whole numbers x and y. c is within ±MaxConstant.
func AtMost(x, y Var, c int) *Formula {
	if x == y {
		return Always(0 <= c).Yes
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
func And(fs ...*Formula) *Formula { return join(all, some, fs) }

// Or holds if one of fs does.
func Or(fs ...*Formula) *Formula { return join(some, all, fs) }

// join makes a formula of parts: an empty one of the other operator is the whole, and
// parts with the same operator are taken apart.
func join(op, other operator, fs []*Formula) *Formula {
	out := &Formula{op: op}
	for _, f := range fs {
		switch {
		case f.op == op:
			out.kids = append(out.kids, f.kids...)
		case f.op == other && len(f.kids) == 0:
			return f
		default:
			out.kids = append(out.kids, f)
		}
	}
	if len(out.kids) == 1 {
		return out.kids[0]
	}
	for _, k := range out.kids {
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
	n := &Formula{v: f.v, w: f.w, c: f.c, set: f.set, vars: f.vars, size: f.size, not: f}
	n.op = [...]operator{all: some, some: all, in: notIn, notIn: in, atMost: atMost}[f.op]
	if f.op == atMost { // not x-y ≤ c is y-x ≤ -c-1, since the numbers are whole
		n.v, n.w, n.c = f.w, f.v, -f.c-1
	}
	for _, k := range f.kids {
		n.kids = append(n.kids, Not(k))
	}
	f.not = n
	return n
}

// Vars lists the variables that occur in f, each once. It must not be changed.
func (f *Formula) Vars() []Var { return f.vars }

// Size is how many atoms f has, those of shared parts counted each time.
func (f *Formula) Size() int { return f.size }
