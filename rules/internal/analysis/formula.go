package analysis

import (
	"math/big"
	"slices"
)

// Var is a variable of a [Model]. The zero Var is [Zero].
type Var int32

// Zero is a whole number that is always 0: x - Zero ≤ 5 means x ≤ 5.
const Zero Var = 0

// MaxConstant bounds the constants of [AtMost] and the bounds of [Model.Int], so that no sum of constants overflows.
const MaxConstant = 1 << 40

type operator uint8

const (
	all    operator = iota // true without parts
	some                   // false without parts
	in                     // v is one of set
	notIn                  // v is none of set
	atMost                 // v - w ≤ c
)

// Formula is a condition in negation normal form. The functions of this package make formulas, which do not change
// afterwards but cache their negation: a Formula is not safe for concurrent use.
type Formula struct {
	op   operator
	v, w Var
	c    int
	set  *big.Int
	kids []*Formula
	not  *Formula
	vars []Var // variables in it, each once
	size int   // atoms that evaluating it visits
}

// True returns a formula that always holds.
func True() *Formula { return And() }

// False returns a formula that never holds.
func False() *Formula { return Or() }

// In returns a formula that holds if the choice v has one of the values.
func In(v Var, values ...int) *Formula {
	f := &Formula{op: in, v: v, vars: []Var{v}, size: 1, set: new(big.Int)}
	for _, x := range values {
		f.set.SetBit(f.set, x, 1)
	}
	return f
}

// AtMost returns a formula that holds if x - y ≤ c, for whole numbers x and y. c must be within ±MaxConstant.
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

// And returns a formula that holds if all of fs do.
func And(fs ...*Formula) *Formula { return join(all, some, fs) }

// Or returns a formula that holds if one of fs does.
func Or(fs ...*Formula) *Formula { return join(some, all, fs) }

// join returns a formula of parts: an empty part of the other operator makes the whole one empty, and parts with the
// same operator are flattened.
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

// Not returns a formula that holds if f does not.
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

// Vars returns the variables in f, each once. The result must not be modified.
func (f *Formula) Vars() []Var { return f.vars }

// Size returns how many atoms f has, counting shared parts each time.
func (f *Formula) Size() int { return f.size }
