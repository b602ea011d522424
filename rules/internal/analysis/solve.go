// Package analysis answers whether conditions can hold together, and in which state.
//
// A [Model] has quantities: choices among values, and whole numbers. Conditions become
// [Outcomes], three formulas that say when a condition is true, false and broken. A [Solver]
// decides whether formulas hold together.
//
// There are two kinds of atoms: a choice has one of some values, and the difference of two
// whole numbers is at most a constant. With and, or and not over them this is enough for
// enums, booleans, bounds of numbers and comparisons between them, and it is decided exactly:
// [Unsat] is never wrong, and [Sat] comes with values that satisfy everything. What these
// atoms cannot say is an opaque choice. Conditions that hold only if an opaque choice is
// guessed are [Maybe] satisfiable, and a search that grows too long is [GaveUp]: nothing is
// known then.
//
// The package knows nothing of policies.
package analysis

// Status is the answer of a solver. The zero Status is GaveUp: nothing is known.
type Status uint8

// The answers.
const (
	GaveUp Status = iota // the search was too long
	Unsat                // no values satisfy the conditions
	Maybe                // only certain values of opaque choices would
	Sat                  // the values of the Result do, whatever opaque choices are
)

// String is the word of the answer, for messages of tests.
func (s Status) String() string {
	return [...]string{"gave up", "unsat", "maybe", "sat"}[s]
}

// Result is what a search found.
type Result struct {
	Status Status
	Steps  int // that the search took

	values []int
	asked  []bool
}

// Value gives the value of a variable in a Sat result. asked is false if no
// condition that had to be decided reads the variable, so that any value will do.
func (r *Result) Value(v Var) (value int, asked bool) {
	if int(v) >= len(r.values) {
		return 0, false
	}
	return r.values[v], r.asked[v]
}

type value int8

const (
	no   value = -1
	open value = 0
	yes  value = 1
)

// Solver holds conditions that must all be satisfied. It knows the variables that
// its space had when it was made. It is not safe for concurrent use.
type Solver struct {
	vars    []variable
	choices []bits
	numbers *numbers

	conds []*Formula
	done  []bool // conditions that hold already
	watch [][]int32

	undo    []change
	dirty   []Var // whose watchers are to be looked at
	isDirty []bool
	guesses int // opaque choices that were made
	maybe   bool
	values  bool // are asked for
	steps   int
	budget  int
	result  Result
}

// change is a choice before it was narrowed, or a condition that became done.
type change struct {
	v    Var // 0 for a condition
	was  bits
	cond int32
}

// NewSolver gives a solver without conditions.
func NewSolver(s *Space) *Solver {
	sv := &Solver{
		vars: s.vars[:len(s.vars):len(s.vars)], choices: make([]bits, len(s.vars)),
		watch: make([][]int32, len(s.vars)), isDirty: make([]bool, len(s.vars)),
	}
	for i, v := range s.vars {
		if v.size > 0 {
			sv.choices[i] = full(v.size)
		}
	}
	sv.numbers = newNumbers(sv.vars, sv.touch)
	return sv
}

// Add gives the solver conditions that every later Solve must satisfy.
func (s *Solver) Add(fs ...*Formula) {
	for _, f := range fs {
		if f.op == all {
			s.Add(f.kids...)
			continue
		}
		if f.op == isTrue {
			continue
		}
		for _, v := range f.vars {
			s.watch[v] = append(s.watch[v], int32(len(s.conds)))
		}
		s.conds = append(s.conds, f)
		s.done = append(s.done, false)
	}
}

// Solve looks for values that satisfy the conditions of the solver and also fs,
// which the solver forgets afterwards. It gives up after budget steps, each of
// which is the look at one atom.
func (s *Solver) Solve(budget int, fs ...*Formula) Result { return s.solve(budget, true, fs) }

// Try is Solve without the values, for those who need only the answer.
func (s *Solver) Try(budget int, fs ...*Formula) (Status, int) {
	r := s.solve(budget, false, fs)
	return r.Status, r.Steps
}

func (s *Solver) solve(budget int, values bool, fs []*Formula) Result {
	base := len(s.conds)
	s.Add(fs...)
	s.steps, s.budget, s.maybe, s.guesses, s.values = 0, budget, false, 0, values
	s.result = Result{}
	choices, numbers := len(s.undo), s.numbers.mark()
	status := s.search(base, s.begin(base), false)
	s.back(choices, numbers)
	s.drop(base)
	if status == Unsat && s.maybe {
		status = Maybe
	}
	r := s.result
	r.Status, r.Steps = status, s.steps
	s.result = Result{}
	return r
}

// drop forgets the conditions behind base.
func (s *Solver) drop(base int) {
	for i := len(s.conds) - 1; i >= base; i-- {
		for _, v := range s.conds[i].vars {
			s.watch[v] = s.watch[v][:len(s.watch[v])-1]
		}
	}
	s.conds, s.done = s.conds[:base], s.done[:base]
}

// begin looks at every condition once: those that were asked about first, for they
// narrow down what the others can be.
func (s *Solver) begin(base int) bool {
	for n := range s.conds {
		i := (base + n) % len(s.conds)
		if !s.done[i] && !s.require(int32(i)) {
			return false
		}
	}
	return true
}

// search decides the conditions that are open; those before from, going round, are
// not. ok reports whether what was concluded so far is possible, guessing that only
// opaque atoms are left.
func (s *Solver) search(from int, ok, guessing bool) Status {
	for {
		switch {
		case !ok || !s.propagate():
			s.settle()
			return Unsat
		case s.guesses > 0 && s.maybe:
			return Unsat // one guess that works is as good as two
		case s.steps > s.budget:
			return GaveUp
		}
		var atom *Formula
		if atom, from, guessing = s.choose(from, guessing); atom == nil {
			if s.guesses > 0 {
				s.maybe = true
				return Unsat
			}
			if s.values {
				s.capture()
			}
			return Sat
		}
		choices, numbers, guesses := len(s.undo), s.numbers.mark(), s.guesses
		status := Unsat
		if s.assert(atom) {
			status = s.search(from, true, guessing)
		} else {
			s.settle()
		}
		if status != Unsat {
			return status
		}
		s.back(choices, numbers)
		s.guesses = guesses
		ok = s.assert(Not(atom))
	}
}

// back undoes what was asserted since the marks.
func (s *Solver) back(choices, numbers int) {
	for i := len(s.undo) - 1; i >= choices; i-- {
		if c := s.undo[i]; c.v == 0 {
			s.done[c.cond] = false
		} else {
			s.choices[c.v] = c.was
		}
	}
	s.undo = s.undo[:choices]
	s.numbers.back(numbers)
}

func (s *Solver) touch(v Var) {
	if v != Zero && !s.isDirty[v] {
		s.isDirty[v] = true
		s.dirty = append(s.dirty, v)
	}
}

// settle forgets what was to be looked at, after a contradiction.
func (s *Solver) settle() {
	for _, v := range s.dirty {
		s.isDirty[v] = false
	}
	s.dirty = s.dirty[:0]
}

// propagate looks at all conditions that read what has changed, until nothing
// changes. It reports whether none of them is broken.
func (s *Solver) propagate() bool {
	for len(s.dirty) > 0 {
		v := s.dirty[len(s.dirty)-1]
		s.dirty = s.dirty[:len(s.dirty)-1]
		s.isDirty[v] = false
		for _, i := range s.watch[v] {
			if !s.done[i] && !s.require(i) {
				return false
			}
		}
		if s.steps > s.budget {
			s.settle()
			return true
		}
	}
	return true
}

// require draws the conclusions of one condition. It reports whether it can hold.
func (s *Solver) require(cond int32) bool {
	switch s.force(s.conds[cond]) {
	case no:
		return false
	case yes:
		s.done[cond] = true
		s.undo = append(s.undo, change{cond: cond})
	}
	return true
}

// force makes what must hold for f to hold. It reports whether f cannot hold, holds
// now, or is still open.
func (s *Solver) force(f *Formula) value {
	switch f.op {
	case isTrue:
		return yes
	case isFalse:
		return no
	case all:
		out := yes
		for _, k := range f.kids {
			switch s.force(k) {
			case no:
				return no
			case open:
				out = open
			}
		}
		return out
	case some:
		var last *Formula
		for _, k := range f.kids {
			switch s.eval(k) {
			case yes:
				return yes
			case open:
				if last != nil {
					return open
				}
				last = k
			}
		}
		if last == nil {
			return no
		}
		return s.force(last)
	}
	if v := s.eval(f); v != open {
		return v
	}
	if !s.assert(f) {
		return no
	}
	return yes
}

// eval gives what is known of f.
func (s *Solver) eval(f *Formula) value {
	switch f.op {
	case isTrue:
		return yes
	case isFalse:
		return no
	case all:
		out := yes
		for _, k := range f.kids {
			switch s.eval(k) {
			case no:
				return no
			case open:
				out = open
			}
		}
		return out
	case some:
		out := no
		for _, k := range f.kids {
			switch s.eval(k) {
			case yes:
				return yes
			case open:
				out = open
			}
		}
		return out
	}
	s.steps++
	if f.op == atMost {
		return s.numbers.value(f.v, f.w, f.c)
	}
	left := s.choices[f.v]
	out := open
	switch {
	case !left.meets(f.set):
		out = no
	case left.within(f.set):
		out = yes
	}
	if f.op == notIn {
		out = -out
	}
	return out
}

// assert makes an open atom hold. It reports whether that is possible.
func (s *Solver) assert(f *Formula) bool {
	s.steps++
	if f.op == atMost {
		before := s.numbers.searched
		ok := s.numbers.assert(f.v, f.w, f.c)
		s.steps += s.numbers.searched - before
		return ok
	}
	was := s.choices[f.v]
	left := was.narrow(f.set, f.op == notIn)
	if left.first() < 0 {
		return false
	}
	s.undo = append(s.undo, change{v: f.v, was: was})
	s.choices[f.v] = left
	if s.vars[f.v].opaque {
		s.guesses++
	}
	s.touch(f.v)
	return true
}

// choose gives an open atom of an open condition, and the first open condition,
// going round from from. Opaque atoms are chosen only if there are no others, which
// guessing tells: what has only opaque atoms left never gets others.
func (s *Solver) choose(from int, guessing bool) (atom *Formula, first int, guess bool) {
	first = -1
	for n := range s.conds {
		i := (from + n) % len(s.conds)
		if s.done[i] {
			continue
		}
		s.steps++
		if first < 0 {
			first = i
		}
		a, opaque := s.open(s.conds[i])
		if a != nil && (!opaque || guessing) {
			return a, first, guessing
		}
		if atom == nil {
			atom = a
		}
	}
	return atom, max(first, 0), true
}

// open gives an atom of f that is not decided yet, if possible one that is not
// opaque.
func (s *Solver) open(f *Formula) (atom *Formula, guess bool) {
	switch f.op {
	case isTrue, isFalse:
		return nil, false
	case all, some:
		for _, k := range f.kids {
			if s.eval(k) != open {
				continue
			}
			a, g := s.open(k)
			if a != nil && !g {
				return a, false
			}
			if atom == nil {
				atom = a
			}
		}
		return atom, atom != nil
	}
	return f, s.vars[f.v].opaque && f.op != atMost
}

// capture keeps the values that satisfy everything. Every choice takes the value
// it prefers, if it may, and every number the one nearest to what it prefers:
// given what is known of the others, each value between its bounds will do.
func (s *Solver) capture() {
	n := len(s.vars)
	r := Result{values: make([]int, n), asked: make([]bool, n)}
	mark := s.numbers.mark()
	for v := Var(1); int(v) < n; v++ {
		d := s.vars[v]
		if d.size > 0 {
			r.asked[v] = !full(d.size).within(s.choices[v])
			r.values[v] = d.prefer
			if !s.choices[v].has(d.prefer) {
				r.values[v] = s.choices[v].first()
			}
			continue
		}
		r.asked[v] = s.numbers.linked(v)
		x := max(s.numbers.low[v], min(s.numbers.up[v], d.prefer))
		s.numbers.assert(v, Zero, x)
		s.numbers.assert(Zero, v, -x)
		r.values[v] = x
	}
	s.numbers.back(mark)
	s.settle()
	s.result = r
}
