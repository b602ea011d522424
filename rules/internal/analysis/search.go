package analysis

import "math/big"

type value int8

const (
	no   value = -1
	open value = 0
	yes  value = 1
)

// change is the previous state of a choice or a condition.
type change struct {
	v    Var // 0 for a condition
	was  *big.Int
	cond int32
}

// begin checks every condition once, beginning with those of the question, because they restrict the others.
func (m *Model) begin(base int) bool {
	for n := range m.conds {
		i := (base + n) % len(m.conds)
		if !m.done[i] && !m.require(int32(i)) {
			return false
		}
	}
	return true
}

// search decides the open conditions from index from on, wrapping around. ok reports whether the conclusions so far are
// possible, guessing that only opaque atoms remain.
func (m *Model) search(from int, ok, guessing bool) Status {
	for {
		switch {
		case !ok || !m.propagate():
			m.dirty.clear()
			return Unsat
		case m.asked.guesses > 0 && m.asked.maybe:
			return Unsat // one successful guess is enough
		case m.asked.steps > m.asked.budget:
			return GaveUp
		}
		var atom *Formula
		if atom, from, guessing = m.choose(from, guessing); atom == nil {
			if m.asked.guesses > 0 {
				m.asked.maybe = true
				return Unsat
			}
			return Sat
		}
		choices, numbers, guesses := len(m.undo), m.numbers.mark(), m.asked.guesses
		if status := m.search(from, m.assert(atom), guessing); status != Unsat {
			return status
		}
		m.back(choices, numbers)
		m.asked.guesses = guesses
		ok = m.assert(Not(atom))
	}
}

// back undoes everything since the marks.
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
	if v != Zero {
		m.dirty.add(v)
	}
}

// propagate checks all conditions that read changed variables, until nothing changes. It reports whether all conditions
// are still possible.
func (m *Model) propagate() bool {
	for len(m.dirty.list) > 0 {
		for _, i := range m.watch[m.dirty.pop()] {
			if !m.done[i] && !m.require(i) {
				return false
			}
		}
		if m.asked.steps > m.asked.budget {
			m.dirty.clear()
		}
	}
	return true
}

// require draws the conclusions of one condition. It reports whether the condition is possible.
func (m *Model) require(cond int32) bool {
	v := m.force(m.conds[cond])
	if v == yes {
		m.done[cond] = true
		m.undo = append(m.undo, change{cond: cond})
	}
	return v != no
}

// force asserts what f requires. It returns whether f cannot hold, holds now, or is still open.
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

// fold returns the value of f from the values of its parts, one of which can decide.
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

// eval returns what is known about f.
func (m *Model) eval(f *Formula) value {
	switch f.op {
	case all:
		return fold(f, no, m.eval)
	case some:
		return fold(f, yes, m.eval)
	}
	m.asked.steps++
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

// assert makes an open atom true. It reports whether that is possible.
func (m *Model) assert(f *Formula) bool {
	m.asked.steps++
	if f.op == atMost {
		before := m.numbers.searched
		ok := m.numbers.assert(f.v, f.w, f.c)
		m.asked.steps += m.numbers.searched - before
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
		m.asked.guesses++
	}
	m.touch(f.v)
	return true
}

// choose returns an open atom of an open condition, and the first open condition from index from on, wrapping around.
// It chooses an opaque atom only if there are no others, and then guess is true: a condition with only opaque atoms
// never gets others.
func (m *Model) choose(from int, guessing bool) (atom *Formula, first int, guess bool) {
	first = -1
	for n := range m.conds {
		i := (from + n) % len(m.conds)
		if m.done[i] {
			continue
		}
		m.asked.steps++
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

// open returns an undecided atom of f, preferably not an opaque one.
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

// capture returns values that satisfy everything. Every choice has its preferred value if possible, and every number
// the possible one nearest to it.
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
	m.dirty.clear()
	return r
}
