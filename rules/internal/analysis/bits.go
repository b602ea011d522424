package analysis

import mathbits "math/bits"

// bits is a set of small numbers. nil is the empty set, and words that are not
// there are empty.
type bits []uint64

// full gives the set of 0 … n-1.
func full(n int) bits {
	b := make(bits, (n+63)/64)
	for i := range b {
		b[i] = ^uint64(0)
	}
	if rest := n % 64; rest != 0 {
		b[len(b)-1] = 1<<rest - 1
	}
	return b
}

func (b *bits) add(x int) {
	for len(*b) <= x/64 {
		*b = append(*b, 0)
	}
	(*b)[x/64] |= 1 << (x % 64)
}

func (b bits) has(x int) bool { return x/64 < len(b) && b[x/64]&(1<<(x%64)) != 0 }

// word gives a word of the set, also behind its end.
func (b bits) word(i int) uint64 {
	if i < len(b) {
		return b[i]
	}
	return 0
}

// meets reports whether the sets have an element in common.
func (b bits) meets(c bits) bool {
	for i := range min(len(b), len(c)) {
		if b[i]&c[i] != 0 {
			return true
		}
	}
	return false
}

// within reports whether every element of b is one of c.
func (b bits) within(c bits) bool {
	for i, w := range b {
		if w&^c.word(i) != 0 {
			return false
		}
	}
	return true
}

// narrow gives what b and c have in common, or what b has and c has not.
func (b bits) narrow(c bits, without bool) bits {
	out := make(bits, len(b))
	for i, w := range b {
		if without {
			out[i] = w &^ c.word(i)
		} else {
			out[i] = w & c.word(i)
		}
	}
	return out
}

// first gives the smallest element, or -1.
func (b bits) first() int {
	for i, w := range b {
		if w != 0 {
			return i*64 + mathbits.TrailingZeros64(w)
		}
	}
	return -1
}
