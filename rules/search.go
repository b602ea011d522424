package rules

import (
	"context"
	"errors"
	"slices"
)

const (
	searchSteps  = 200_000   // operands that a question may evaluate
	exampleSteps = 10_000    // that one for an example may evaluate
	allSteps     = 2_000_000 // that all questions of a model may evaluate; for examples a twentieth
)

// find looks for a situation in which test is yes. Without one, whole says whether all situations were tried: only then there is none.
// test depends on nothing but variables. They keep what was found until the next search.
func (m *model) find(steps int, test func() truth) (found, whole bool) {
	for _, v := range m.vars {
		v.now = nil
	}
	left := min(steps, m.room)
	m.left, m.filled = left, false
	t, _ := m.search(test)
	m.room -= left - m.left
	return t == yes, t == no
}

// search gives a value to the variable that test wants, and then to the next one. It is open where the steps are used up. blame are the
// variables because of which there is no such situation: where the last one is not among them, its other values do not help.
func (m *model) search(test func() truth) (t truth, blame []bool) {
	m.wanted = nil
	clear(m.seen)
	t = test()
	v := m.wanted
	if t != open || v == nil {
		return t, slices.Clone(m.seen)
	}
	for i := range v.values {
		if m.left <= 0 {
			return open, nil
		}
		v.now = &v.values[i]
		t, more := m.search(test)
		if t != no {
			return t, nil
		}
		if !more[v.index] {
			v.now = nil
			return no, more
		}
		for j, b := range blame { // more may be longer: an example has found new variables
			more[j] = more[j] || b
		}
		blame = more
	}
	v.now = nil
	blame[v.index] = false
	return no, blame
}

// isOpen reports whether a variable has no value, and notes that this test depends on it.
func (m *model) isOpen(v *variable) bool {
	m.seen[v.index] = true
	if v.now != nil || m.filled {
		return false
	}
	if m.wanted == nil {
		m.wanted = v
	}
	return true
}

// value returns what a variable has, or would have first.
func (v *variable) value() result {
	if v.now == nil {
		return v.values[0]
	}
	return *v.now
}

// operand evaluates an operand as the situation says. For claims it says what a path has; for examples the evaluator finds it.
func (m *model) operand(e *evaluation, o *operand) result {
	u := m.uses[o]
	m.left--
	for i := range u.reads {
		r := &u.reads[i]
		if t := m.state(e, u, r); t == open || m.claims && t != yes && (t != missing || !r.covered) {
			return result{state: t}
		}
	}
	if u.atom != nil {
		if m.isOpen(u.atom) {
			return result{state: open}
		}
		return u.atom.value()
	}
	for _, a := range u.asks {
		if m.isOpen(a.status) {
			return result{state: open}
		}
		if m.claims {
			e.known(a.path.root)
			e.got[a.path.root.id] = &gathered{state: a.status.value().state}
		}
	}
	r := e.reach(o)
	if errors.Is(r.why, errOpen) {
		r.state = open
	}
	return r
}

// state returns what is known of a path, and for claims makes the evaluator see it.
func (m *model) state(e *evaluation, u *uses, r *use) truth {
	v := result{state: yes}
	if r.status != nil {
		if m.isOpen(r.status) {
			return open
		}
		v = r.status.value()
	}
	if v.state == yes && r.value != nil && u.atom == nil {
		if m.isOpen(r.value) {
			return open
		}
		v = r.value.value()
	}
	p := r.path
	switch {
	case !m.claims:
	case r.inner:
		e.known(p.root)
		e.got[p.root.id] = nil
		e.tested[p.id] = e.find(p)
		return e.tested[p.id]
	case r.value != nil:
		if v.state != yes {
			v.value = nil
		}
		names := p.written()
		e.tested[p.id], e.env[names[0]] = v.state, put(e.env[names[0]], names[1:], v.value)
	}
	return v.state
}

// put returns an object with a value at a path.
func put(in any, path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	object, ok := in.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[path[0]] = put(object[path[0]], path[1:], v)
	return object
}

// evaluation returns one of the situation, for the policy of an index.
func (m *model) evaluation(i int) *evaluation {
	e := m.evals[i]
	if !m.claims {
		e = m.policies[i].evaluation(context.Background(), m.input(i))
		e.model = m
	}
	e.doubt = nil
	return e
}

// decide returns the rule that decides, of those before end, and how: continue, stop, or done. It is "" where that is open, and stop with
// end where none decides. Effects are taken to succeed.
func (m *model) decide(i, end int) (int, string) {
	e := m.evaluation(i)
	for j, r := range m.policies[i].rules[:end] {
		if r.verb == "note" {
			continue
		}
		t := m.try(e, r)
		switch stops := r.verb == "stop" || r.verb == "done"; {
		case t == open:
			return j, ""
		case t == failed && stops, t == yes && r.verb == "done" && e.doubt != nil:
			return j, "stop"
		case t == yes && r.decides():
			return j, r.verb
		case t > yes && r.decides():
			e.doubt = errSkipped
		}
	}
	return end, "stop"
}

// try returns the truth of a rule's condition. One that at_most holds back is missing.
func (m *model) try(e *evaluation, r *rule) truth {
	if r.times > 0 {
		v := m.variable(variable{what: ofCount, name: r.name, values: []result{{value: 0, state: yes}}})
		if full := (result{value: r.times, state: yes}); !slices.Contains(v.values, full) {
			v.values = append(v.values, full)
		}
		if m.isOpen(v) {
			return open
		}
		if v.value().value.(int) >= r.times {
			return missing
		}
	}
	t, _ := e.holds(r.when)
	return t
}
