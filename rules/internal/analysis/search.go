package analysis

import "math/big"

type value int8

const (
	no   value = -1
	open value = 0
	yes  value = 1
)

// change is a choice before it was narrowed, or a condition that became done.
type change struct {
	v    Var // 0 for a condition
	was  *big.Int
	cond int32
}

// begin looks at every condition once: those that were asked about first, for they
// narrow down what the others can be.
func (m *Model) begin(base int) bool {
	for n := range m.conds {
		i := (base + n) % len(m.conds)
		if !m.done[i] && !m.require(int32(i)) {
			return false
		}
	}
	return true
}

// search decides the conditions that are open; those before from, going round, are
// not. ok reports whether what was concluded so far is possible, guessing that only
// opaque atoms are left.
func (m *Model) search(from int, ok, guessing bool) Status {
	for {
		switch {
		case !ok || !m.propagate():
			m.settle()
			return Unsat
		case m.guesses > 0 && m.maybe:
			return Unsat // one guess that works is as good as two
		case m.steps > m.budget:
			return GaveUp
		}
		var atom *Formula
		if atom, from, guessing = m.choose(from, guessing); atom == nil {
			if m.guesses > 0 {
				m.maybe = true
				return Unsat
			}
			return Sat
		}
		choices, numbers, guesses := len(m.undo), m.numbers.mark(), m.guesses
		if status := m.search(from, m.assert(atom), guessing); status != Unsat {
			return status
		}
		m.back(choices, numbers)
		m.guesses = guesses
		ok = m.assert(Not(atom))
	}
}

// back undoes what was asserted since the marks.
func (m *Model) back(choices, numbers int) {
	for i := len(m.undo) - 1; i >= choices; i-- {
		if c := m.undo[i]; c.v == 0 {
			m.done[c.cond] = false
		} else {
			m.choices[c.v] = c.was
		}
	}
	m.undo = m.undo[:choices]
	m.numbers.back(numbers)
}

func (m *Model) touch(v Var) {
	if v != Zero && !m.isDirty[v] {
		m.isDirty[v] = true
		m.dirty = append(m.dirty, v)
	}
}

// settle forgets what was to be looked at, after a contradiction.
func (m *Model) settle() {
	for _, v := range m.dirty {
		m.isDirty[v] = false
	}
	m.dirty = m.dirty[:0]
}

// propagate looks at all conditions that read what has changed, until nothing
// changes. It reports whether none of them is broken.
func (m *Model) propagate() bool {
	for len(m.dirty) > 0 {
		v := m.dirty[len(m.dirty)-1]
		m.dirty = m.dirty[:len(m.dirty)-1]
		m.isDirty[v] = false
		for _, i := range m.watch[v] {
			if !m.done[i] && !m.require(i) {
				return false
			}
		}
		if m.steps > m.budget {
			m.settle()
		}
	}
	return true
}

// require draws the conclusions of one condition. It reports whether it can hold.
func (m *Model) require(cond int32) bool {
	v := m.force(m.conds[cond])
	if v == yes {
		m.done[cond] = true
		m.undo = append(m.undo, change{cond: cond})
	}
	return v != no
}

// force makes what must hold for f to hold. It reports whether f cannot hold, holds
// now, or is still open.
func (m *Model) force(f *Formula) value {
	switch f.op {
	case all:
		return fold(f, no, m.force)
	case some:
		var last *Formula
		for _, k := range f.kids {
			switch v := m.eval(k); {
			case v == yes || v == open && last != nil:
				return v
			case v == open:
				last = k
			}
		}
		if last == nil {
			return no
		}
		return m.force(last)
	}
	if v := m.eval(f); v != open {
		return v
	}
	if !m.assert(f) {
		return no
	}
	return yes
}

// fold returns what the parts of f come to, of which one with the value decides.
func fold(f *Formula, decides value, of func(*Formula) value) value {
	out := -decides
	for _, k := range f.kids {
		switch of(k) {
		case decides:
			return decides
		case open:
			out = open
		}
	}
	return out
}

// eval returns what is known of f.
func (m *Model) eval(f *Formula) value {
	switch f.op {
	case all:
		return fold(f, no, m.eval)
	case some:
		return fold(f, yes, m.eval)
	}
	m.steps++
	if f.op == atMost {
		return m.numbers.value(f.v, f.w, f.c)
	}
	left, out := m.choices[f.v], open
	switch {
	case m.scratch.And(left, f.set).Sign() == 0:
		out = no
	case m.scratch.AndNot(left, f.set).Sign() == 0:
		out = yes
	}
	if f.op == notIn {
		out = -out
	}
	return out
}

// assert makes an open atom hold. It reports whether that is possible.
func (m *Model) assert(f *Formula) bool {
	m.steps++
	if f.op == atMost {
		before := m.numbers.searched
		ok := m.numbers.assert(f.v, f.w, f.c)
		m.steps += m.numbers.searched - before
		return ok
	}
	was, left := m.choices[f.v], new(big.Int)
	if f.op == in {
		left.And(was, f.set)
	} else {
		left.AndNot(was, f.set)
	}
	if left.Sign() == 0 {
		return false
	}
	m.undo = append(m.undo, change{v: f.v, was: was})
	m.choices[f.v] = left
	if m.vars[f.v].opaque {
		m.guesses++
	}
	m.touch(f.v)
	return true
}

// choose returns an open atom of an open condition, and the first open condition,
// going round from from. Opaque atoms are chosen only if there are no others, which
// guessing says: what has only opaque atoms left never gets others.
func (m *Model) choose(from int, guessing bool) (atom *Formula, first int, guess bool) {
	first = -1
	for n := range m.conds {
		i := (from + n) % len(m.conds)
		if m.done[i] {
			continue
		}
		m.steps++
		if first < 0 {
			first = i
		}
		a, opaque := m.open(m.conds[i])
		if a != nil && (!opaque || guessing) {
			return a, first, guessing
		}
		if atom == nil {
			atom = a
		}
	}
	return atom, max(first, 0), true
}

// open returns an atom of f that is not decided yet, if possible one that is not
// opaque.
func (m *Model) open(f *Formula) (atom *Formula, guess bool) {
	if f.op != all && f.op != some {
		return f, f.op != atMost && m.vars[f.v].opaque
	}
	for _, k := range f.kids {
		if m.eval(k) != open {
			continue
		}
		a, g := m.open(k)
		if a != nil && !g {
			return a, false
		}
		if atom == nil {
			atom = a
		}
	}
	return atom, true
}

// capture returns the values that satisfy everything. Every choice takes the value
// it prefers, if it may, and every number the one nearest to what it prefers:
// given what is known of the others, each value between its bounds will do.
func (m *Model) capture() *Result {
	n := len(m.vars)
	r := &Result{values: make([]int, n), asked: make([]bool, n)}
	for v := Var(1); int(v) < n; v++ {
		d := m.vars[v]
		if d.values != nil {
			r.asked[v] = m.choices[v].Cmp(d.values) != 0
			r.values[v] = d.prefer
			if m.choices[v].Bit(d.prefer) == 0 {
				r.values[v] = int(m.choices[v].TrailingZeroBits())
			}
			continue
		}
		r.asked[v] = m.numbers.linked(v)
		x := max(-m.numbers.dist[down][v], min(m.numbers.dist[up][v], d.prefer))
		m.numbers.assert(v, Zero, x)
		m.numbers.assert(Zero, v, -x)
		r.values[v] = x
	}
	m.settle()
	return r
}
