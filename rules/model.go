package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/schema"
)

// model evaluates conditions in situations that are not real. A situation gives values to variables, such as the status of a fact and the
// value of a field. The evaluator is that of decisions, with a further truth: what needs a variable without a value is open.
//
// The situations of a claim are all that can be, and others: a condition that holds in none of them never holds. There, an operand that
// boundary values do not decide, such as a text that matches a pattern, is a variable of its own. An example evaluates these too, with
// values that are likely to make a difference, and is shown only if the evaluator of decisions confirms it.
type model struct {
	policies []*Policy
	evals    []*evaluation // one for each policy
	vars     []*variable
	byKey    map[string]*variable
	uses     map[*operand]*uses
	likely   likely

	example bool      // every operand is evaluated
	wanted  *variable // the first that was open in this test
	left    int       // operands that the search may still evaluate
	room    int       // that all searches may
}

// variable is what a situation gives a value to: the status of a fact, the value of a name or of a field below it, the answer to a
// question, how often a rule with at_most was applied, or an operand that boundary values do not decide.
type variable struct {
	key     string
	at      []string     // where a test has the value; nil: nowhere
	invalid []string     // where a test has that the fact of a status is invalid; nil: nowhere
	typ     *schema.Type // nil: it is no value of a name or field
	values  []result     // all that it may have; open for those that are too many to try
	now     *result      // nil: it is open
	vague   bool         // boundary values do not decide each operand that reads it
	peers   []*variable  // that it is compared with
	offset  int          // the largest number that is added to it before
	consts  []any        // that it is compared with
}

// use is a path that an operand reads.
type use struct {
	read
	status *variable // of the fact; nil: it is none
	value  *variable // nil: the evaluator finds it
}

// uses is what an operand depends on.
type uses struct {
	reads []use
	asks  []*variable // the statuses of the facts that it asks about
	vague bool        // boundary values do not decide the operand
	atom  *variable   // for the operand as a whole, if they do not
}

var errOpen = errors.New("it is open")

// newModel makes a model of one policy with any params, or of two with theirs. Facts and names of the same name are the same.
func newModel(policies ...*Policy) *model {
	m := &model{policies: policies, byKey: map[string]*variable{}, uses: map[*operand]*uses{}, room: allSteps}
	m.likely.texts, m.likely.numbers = []any{"another"}, []any{0, 1, 2}
	for _, p := range policies {
		e := p.evaluation(context.Background(), m.input(nil))
		e.model = m
		m.evals = append(m.evals, e)
		for _, x := range p.compiler.expressions {
			x.ready(p.compiler)
			for _, o := range x.leaves {
				m.uses[o] = m.usesOf(x, o)
			}
		}
		for _, r := range p.rules {
			if r.times > 0 {
				v := m.variable(variable{key: "times " + r.Name, at: []string{"memory", "applied", r.Name}, values: []result{known(0)}})
				v.values = append(v.values, known(r.times))
			}
		}
	}
	for _, v := range m.vars {
		if v.typ != nil {
			m.domain(v)
		}
	}
	slices.SortStableFunc(m.vars, func(a, b *variable) int { return len(a.at) - len(b.at) }) // an object is before its fields
	return m
}

func known(v any) result { return result{value: v, state: yes} }

// variable returns the variable that is like v, and makes it if there is none.
func (m *model) variable(v variable) *variable {
	if m.byKey[v.key] == nil {
		m.byKey[v.key], m.vars = &v, append(m.vars, &v)
	}
	return m.byKey[v.key]
}

// usesOf finds what an operand of an expression reads and asks about.
func (m *model) usesOf(x *expression, o *operand) *uses {
	u := &uses{}
	for _, r := range o.reads {
		u.reads = append(u.reads, m.use(r))
	}
	slices.SortStableFunc(u.reads, func(a, b use) int { return len(a.path.steps) - len(b.path.steps) })
	for _, s := range o.asks {
		u.asks = append(u.asks, m.status(s.fact))
	}
	u.vague = !u.decided(*o.slot)
	values := []result{known(true), {state: missing}, {state: failed}, known(false)}
	switch {
	case x.symbol != nil && !x.isTruth():
		values = values[:3] // it is known or not
	case len(m.policies) > 1 && !slices.ContainsFunc(o.reads, func(r read) bool { return r.path.root.meaning != function }):
		values = []result{known(true), known(false)} // policies are compared where questions have answers
	}
	u.atom = m.variable(variable{key: "operand " + o.text, values: values})
	if x.condition || x.symbol != nil {
		m.likely.note(*o.slot)
		for _, r := range u.reads {
			if r.value != nil && u.vague {
				r.value.vague = true
			}
		}
	}
	return u
}

// isTruth reports whether an expression is true or false.
func (x *expression) isTruth() bool {
	return x.root != nil && (x.root.op != "" || (*x.root.leaf.slot).Nature().Kind == reflect.Bool)
}

// status returns the variable of a fact's status. It has the value of a fact of whose fields nothing is known. Where the file of an invalid
// one would be, a test has a directory.
func (m *model) status(f *Fact) *variable {
	v := variable{key: "status of " + f.Name, at: []string{"facts", f.Name}, values: []result{known(m.likely.of(f.symbol.typ, 0)[0])}}
	if !f.defaults {
		v.values = append(v.values, result{state: missing})
	}
	if slices.Contains([]string{"exec", "git", "judge"}, f.Source) {
		v.invalid = []string{"invalid", f.Name}
	} else if f.OnePath && len(f.args[0].exprs) == 0 {
		v.invalid = []string{"files", f.args[0].lits[0] + "/"}
	}
	v.values = append(v.values, result{state: failed})
	return m.variable(v)
}

// use finds the variables of a path.
func (m *model) use(r read) use {
	u, s, steps := use{read: r}, r.path.root, r.path.steps
	v := variable{key: fmt.Sprint(s.name, steps), typ: cmp.Or(r.path.typ, &schema.Type{})}
	switch {
	case s.meaning == function, s.meaning == letName, s.meaning == givenName, s.meaning == textName, v.typ.Go != nil:
		return u
	case s.meaning == constant:
		if len(m.policies) > 1 { // it has one value
			v.key += " = " + show(s.value)
			v.typ = &schema.Type{Kind: v.typ.Kind, Enum: []any{s.value}}
		}
	case s.fact != nil:
		u.status, v.at = m.status(s.fact), slices.Concat([]string{"facts", s.name}, steps)
		if s.fact.Schema == nil && s.fact.source.typ != nil && s.fact.Source != "frontmatter" {
			break // each field is known
		}
		v.values = []result{{state: failed}}
		for i := range steps { // with defaults on its path, a field of a fact that is ok is never missing
			if t := s.typ.At(steps[:i+1]...); t == nil || !t.HasDefault {
				v.values = []result{{state: failed}, {state: missing}}
			}
		}
	default: // one of ralph's names
		place := []string{"event", s.name}
		if name, ok := strings.CutPrefix(s.name, "env."); ok {
			place = []string{"env", name}
		} else if s.name == "loop" {
			place = []string{"memory"}
		}
		v.at = slices.Concat(place, steps)
		if len(m.policies) == 1 {
			v.values = []result{{state: failed}}
		}
	}
	u.value = m.variable(v)
	return u
}
