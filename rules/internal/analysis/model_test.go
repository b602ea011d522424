package analysis_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// world is a space small enough to try every value of every variable.
type world struct {
	model   *analysis.Model
	choices []analysis.Var
	sizes   []int
	numbers []analysis.Var // each 0 … top, with or without the solver knowing it
	top     int
	opaque  []analysis.Var // of two values
}

// condition is a formula and what it means.
type condition struct {
	formula *analysis.Formula
	holds   func(map[analysis.Var]int) bool
	text    string
}

func drawWorld(t *rapid.T) world {
	w := world{model: analysis.NewModel(), top: 3}
	for range rapid.IntRange(0, 3).Draw(t, "choices") {
		size := rapid.IntRange(1, 3).Draw(t, "size")
		w.choices = append(w.choices, w.model.Choice(size, rapid.IntRange(0, size-1).Draw(t, "prefer")))
		w.sizes = append(w.sizes, size)
	}
	for range rapid.IntRange(0, 4).Draw(t, "numbers") {
		w.numbers = append(w.numbers, w.model.Int(0, w.top, rapid.IntRange(-1, w.top+1).Draw(t, "prefer")))
	}
	for range rapid.IntRange(0, 2).Draw(t, "opaque") {
		w.opaque = append(w.opaque, w.model.Opaque(2))
	}
	return w
}

// drawCondition makes a formula together with its meaning.
func (w world) draw(t *rapid.T, depth int) condition {
	kinds := []string{"true", "false"}
	if len(w.choices) > 0 {
		kinds = append(kinds, "choice", "choice")
	}
	if len(w.numbers) > 0 {
		kinds = append(kinds, "bound", "difference", "difference")
	}
	if len(w.opaque) > 0 {
		kinds = append(kinds, "opaque")
	}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "not", "and", "or", "not")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "true":
		return condition{analysis.True(), func(map[analysis.Var]int) bool { return true }, "true"}
	case "false":
		return condition{analysis.False(), func(map[analysis.Var]int) bool { return false }, "false"}
	case "choice":
		i := rapid.IntRange(0, len(w.choices)-1).Draw(t, "which")
		v, x := w.choices[i], rapid.IntRange(0, w.sizes[i]-1).Draw(t, "value")
		return condition{analysis.In(v, x), func(m map[analysis.Var]int) bool { return m[v] == x }, fmt.Sprintf("c%d=%d", v, x)}
	case "opaque":
		v := rapid.SampledFrom(w.opaque).Draw(t, "which")
		return condition{analysis.In(v, 1), func(m map[analysis.Var]int) bool { return m[v] == 1 }, fmt.Sprintf("o%d", v)}
	case "bound", "difference":
		x, y := rapid.SampledFrom(w.numbers).Draw(t, "x"), analysis.Zero
		if kind == "difference" {
			y = rapid.SampledFrom(w.numbers).Draw(t, "y")
		} else if rapid.Bool().Draw(t, "lower") {
			x, y = y, x
		}
		c := rapid.IntRange(-w.top-1, w.top+1).Draw(t, "c")
		return condition{analysis.AtMost(x, y, c), func(m map[analysis.Var]int) bool { return m[x]-m[y] <= c }, fmt.Sprintf("n%d-n%d<=%d", x, y, c)}
	case "not":
		a := w.draw(t, depth-1)
		return condition{analysis.Not(a.formula), func(m map[analysis.Var]int) bool { return !a.holds(m) }, "not(" + a.text + ")"}
	default:
		a, b := w.draw(t, depth-1), w.draw(t, depth-1)
		if kind == "and" {
			return condition{analysis.And(a.formula, b.formula), func(m map[analysis.Var]int) bool { return a.holds(m) && b.holds(m) }, "(" + a.text + " and " + b.text + ")"}
		}
		return condition{analysis.Or(a.formula, b.formula), func(m map[analysis.Var]int) bool { return a.holds(m) || b.holds(m) }, "(" + a.text + " or " + b.text + ")"}
	}
}

// all calls f with every assignment of the given variables on top of m, until it
// says no.
func (w world) all(vars []analysis.Var, m map[analysis.Var]int, f func(map[analysis.Var]int) bool) bool {
	if len(vars) == 0 {
		return f(m)
	}
	v, n := vars[0], w.top+1
	for i, c := range w.choices {
		if c == v {
			n = w.sizes[i]
		}
	}
	for _, o := range w.opaque {
		if o == v {
			n = 2
		}
	}
	for x := range n {
		m[v] = x
		if !w.all(vars[1:], m, f) {
			return false
		}
	}
	return true
}

// truth finds the right answer by trying everything: sat if some values of what
// is known satisfy all conditions whatever the opaque choices are, maybe if that
// takes certain opaque choices.
func (w world) truth(conds []condition) analysis.Status {
	holds := func(m map[analysis.Var]int) bool {
		for _, c := range conds {
			if !c.holds(m) {
				return false
			}
		}
		return true
	}
	status := analysis.Unsat
	known := append(append([]analysis.Var{}, w.choices...), w.numbers...)
	w.all(known, map[analysis.Var]int{}, func(m map[analysis.Var]int) bool {
		always := w.all(w.opaque, m, holds)
		never := w.all(w.opaque, m, func(m map[analysis.Var]int) bool { return !holds(m) })
		switch {
		case always:
			status = analysis.Sat
		case !never && status == analysis.Unsat:
			status = analysis.Maybe
		}
		return status != analysis.Sat
	})
	return status
}

const plenty = 1 << 23

// TestSolveAgreesWithTryingEverything is what the package promises: the answer
// is exact, and the values of a Sat satisfy every condition.
func TestSolveAgreesWithTryingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		var kept, asked []condition
		for range rapid.IntRange(0, 4).Draw(t, "kept") {
			kept = append(kept, w.draw(t, 3))
		}
		for _, c := range kept {
			w.model.Always(c.formula)
		}
		// Several questions, to see that none leaves traces.
		for range rapid.IntRange(1, 3).Draw(t, "questions") {
			asked = nil
			var fs []*analysis.Formula
			for range rapid.IntRange(0, 3).Draw(t, "asked") {
				c := w.draw(t, 3)
				asked, fs = append(asked, c), append(fs, c.formula)
			}
			conds := append(append([]condition{}, kept...), asked...)
			got, values := w.model.Ask(fs...)
			want := w.truth(conds)
			if status := w.model.Answer(fs...); status != got {
				t.Fatalf("the answer is %s with values and %s without", got, status)
			}
			// A tautology over opaque choices, o or not o, may look like a guess.
			if got != want && !(got == analysis.Maybe && want == analysis.Sat && len(w.opaque) > 0) {
				t.Fatalf("the answer is %s, should be %s:\n%s", got, want, texts(conds))
			}
			if got != analysis.Sat {
				continue
			}
			m := map[analysis.Var]int{}
			for _, v := range append(append([]analysis.Var{}, w.choices...), w.numbers...) {
				m[v], _ = values.Value(v)
			}
			w.all(w.opaque, m, func(m map[analysis.Var]int) bool {
				for _, c := range conds {
					if !c.holds(m) {
						t.Fatalf("the situation %v breaks %s", m, c.text)
					}
				}
				return true
			})
		}
	})
}

func texts(conds []condition) (s string) {
	for _, c := range conds {
		s += c.text + "\n"
	}
	return s
}

// TestSolveOutOfSteps: an answer that costs too much is no answer.
func TestSolveOutOfSteps(t *testing.T) {
	m := analysis.NewModel()
	// Seven numbers, all different, between 0 and 5: unsatisfiable, and hard to
	// see for a search that knows only differences.
	var vars []analysis.Var
	for range 7 {
		vars = append(vars, m.Int(0, 5, 0))
	}
	for i, x := range vars {
		for _, y := range vars[:i] {
			m.Always(analysis.Or(analysis.AtMost(x, y, -1), analysis.AtMost(y, x, -1)))
		}
	}
	for _, tt := range []struct {
		steps int
		want  analysis.Status
	}{{100, analysis.GaveUp}, {plenty, analysis.Unsat}} {
		if m.Steps = tt.steps; m.Answer() != tt.want {
			t.Errorf("after %d steps the answer is not %s", tt.steps, tt.want)
		}
	}
}

func TestSolve(t *testing.T) {
	m := analysis.NewModel()
	phase := m.Choice(3, 1)
	index, total := m.Int(0, 1000, 0), m.Int(0, 1000, 3)
	mood := m.Opaque(2)
	atLeast := func(x analysis.Var, c int) *analysis.Formula { return analysis.AtMost(analysis.Zero, x, -c) }
	for _, tt := range []struct {
		name string
		ask  []*analysis.Formula
		want analysis.Status
		at   map[analysis.Var]int // values of the situation
	}{
		{"nothing is asked", nil, analysis.Sat, map[analysis.Var]int{phase: 1, index: 0, total: 3}},
		{"the preferred value is kept if it may be", []*analysis.Formula{analysis.In(phase, 0, 1)}, analysis.Sat, map[analysis.Var]int{phase: 1}},
		{"and left if it may not", []*analysis.Formula{analysis.In(phase, 0, 2)}, analysis.Sat, map[analysis.Var]int{phase: 0}},
		{"two values of one choice", []*analysis.Formula{analysis.In(phase, 0), analysis.In(phase, 1)}, analysis.Unsat, nil},
		{"bounds that cross", []*analysis.Formula{atLeast(index, 5), analysis.AtMost(index, analysis.Zero, 4)}, analysis.Unsat, nil},
		{"a bound of the declaration", []*analysis.Formula{atLeast(index, 1001)}, analysis.Unsat, nil},
		{"a circle of comparisons", []*analysis.Formula{analysis.AtMost(index, total, -1), analysis.AtMost(total, index, 0)}, analysis.Unsat, nil},
		{"a number beside another", []*analysis.Formula{analysis.AtMost(total, index, -1)}, analysis.Sat, map[analysis.Var]int{index: 1, total: 0}},
		{"a guess", []*analysis.Formula{analysis.In(mood, 1)}, analysis.Maybe, nil},
		{"a guess that is not needed", []*analysis.Formula{analysis.Or(analysis.In(mood, 1), analysis.In(phase, 2))}, analysis.Sat, map[analysis.Var]int{phase: 2}},
		{"a guess that does not help", []*analysis.Formula{analysis.In(mood, 1), analysis.In(mood, 0)}, analysis.Unsat, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, values := m.Ask(tt.ask...)
			if got != tt.want {
				t.Fatalf("the answer is %s, should be %s", got, tt.want)
			}
			for v, want := range tt.at {
				if x, _ := values.Value(v); x != want {
					t.Errorf("variable %d is %d, should be %d", v, x, want)
				}
			}
		})
	}
}

// ExampleModel finds a state in which work is left though the phase is over.
func ExampleModel() {
	m := analysis.NewModel()
	phase := m.Choice(2, 0) // 0 is planning, 1 is execution
	index, total := m.Int(0, 1000, 0), m.Int(0, 1000, 0)

	m.Always(analysis.AtMost(index, total, -1))                   // index < total
	m.Always(analysis.Not(analysis.In(phase, 1)))                 // not execution
	status, r := m.Ask(analysis.AtMost(analysis.Zero, index, -3)) // index >= 3

	p, _ := r.Value(phase)
	i, _ := r.Value(index)
	n, _ := r.Value(total)
	fmt.Println(status, p, i, n)
	// Output: sat 0 3 4
}
