package rules

import (
	"cmp"
	"errors"
)

// allSteps are the operands that all searches of a model may evaluate, each of them a quarter of what is left.
const allSteps = 2_000_000

// none reports that test is yes in no situation: all of them were tried. test depends on nothing but variables.
func (m *model) none(test func() truth) bool { return m.explore(false, test) == no }

// show looks for a situation in which test is yes and which the evaluator of decisions confirms. It returns it as a line of
// a test, "" if it found none.
func (m *model) show(test func() truth, is func(in Input) bool) (line string) {
	m.explore(true, func() truth {
		t := test()
		if t == yes {
			if line = m.confirmed(is); line == "" {
				return no
			}
		}
		return t
	})
	return line
}

// explore looks for a situation in which test is yes, from one in which no variable has a value. They keep what was found until the next
// search. It is no where there is none, and open where the steps are used up.
func (m *model) explore(example bool, test func() truth) truth {
	m.example = example
	for _, v := range m.vars {
		v.now = nil
	}
	m.left = m.room / 4
	t := m.search(test)
	m.room -= m.room/4 - m.left
	return t
}

// search gives a value to the variable that test wants, and then to the next one.
func (m *model) search(test func() truth) truth {
	m.wanted = nil
	t, v := test(), m.wanted
	if t != open || v == nil {
		return t
	}
	for i := range v.values {
		if m.left <= 0 {
			return open
		}
		v.now = &v.values[i]
		if t = m.search(test); t != no {
			return t
		}
	}
	v.now = nil
	return no
}

// fill sets each variable that an expression still needs to its first value, after an example was found.
func (m *model) fill(x *expression) {
	for m.wanted = nil; m.evals[0].value(x).state == open && m.wanted != nil; m.wanted = nil {
		m.wanted.now = &m.wanted.values[0]
	}
}

// now returns what the situation gives to a variable.
func (m *model) now(v *variable) result {
	if v.now != nil {
		return *v.now
	}
	m.wanted = cmp.Or(m.wanted, v)
	return result{state: open, why: errOpen}
}

// operand evaluates an operand as the situation says.
func (m *model) operand(e *evaluation, o *operand) (out result) {
	u := m.uses[o]
	inAtom := u.vague && !m.example
	m.left--
	out.why = errOpen
	for i := range u.reads {
		r := &u.reads[i]
		if out.state = m.state(e, r, inAtom); out.state != yes && (out.state != missing || !r.covered) {
			return out
		}
	}
	if inAtom {
		return m.now(u.atom)
	}
	for i, s := range o.asks {
		if out = m.now(u.asks[i]); out.state == open {
			return out
		}
		e.known(s)
		e.got[s.id] = &gathered{state: out.state, why: errOpen, found: noFound}
	}
	e.asked = nil
	if out = e.exec(o); errors.Is(out.why, errOpen) {
		out.state = open
	}
	return out
}

// state returns what is known of a path, and makes the evaluator see its value. Where the operand is a variable, only its facts and lets
// count.
func (m *model) state(e *evaluation, r *use, inAtom bool) truth {
	v, root := result{state: yes}, r.path.root
	if r.status != nil {
		v = m.now(r.status)
	}
	if root.let != nil {
		e.known(root)
		e.got[root.id] = nil
	} else if v.state != yes || inAtom {
		return v.state
	}
	if r.value == nil {
		t, _ := e.find(r.path)
		return t
	}
	if v = m.now(r.value); v.state != open {
		names := r.path.written
		e.env[names[0]] = put(e.env[names[0]], names[1:], v.value)
	}
	return v.state
}

// put returns an object with a value at a path. Other objects stay as they are.
func put(in any, path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	old, _ := in.(map[string]any)
	return merged(old, map[string]any{path[0]: put(old[path[0]], path[1:], v)})
}

// is returns a test that is yes where a condition holds, and no where it does not or is unknown.
func (m *model) is(x *cond) func() truth {
	return func() truth {
		if x == nil {
			return yes
		}
		t, _ := m.evals[0].cond(x)
		if t == missing || t == failed {
			return no
		}
		return t
	}
}

const noRule = "stop (no rule decides)"

// decision returns how the rules before end decide in a policy, such as "continue by next-task", "" where that is open. Effects are
// taken to succeed.
func (m *model) decision(policy, end int) string {
	e := m.evals[policy]
	e.doubt = nil
	try := func(r *rule) (truth, error) { return m.try(e, r) }
	r, t, _ := e.first(m.policies[policy].rules[:end], try, func(*rule) error { return nil })
	switch {
	case t == open:
		return ""
	case r == nil:
		return noRule
	case t == failed, r.Verb == "done" && e.doubt != nil:
		return "stop by " + r.Name
	}
	return r.Verb + " by " + r.Name
}

// try returns the truth of a rule's condition. One that at_most holds back is missing.
func (m *model) try(e *evaluation, r *rule) (truth, error) {
	if r.times > 0 {
		switch n := m.now(m.byKey["times "+r.Name]); {
		case n.state == open:
			return open, errOpen
		case n.value.(int) >= r.times:
			return missing, errSkipped
		}
	}
	return e.holds(r.when)
}
