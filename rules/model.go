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
	key      string
	at       []string // where a test has the value; nil: nowhere
	isStatus bool
	invalid  []string // of a status: where a test has that it is invalid; nil: nowhere
	typ      *schema.Type
	kind     string      // of the value: a type of JSON Schema, "" for any
	values   []result    // all that it may have
	others   []result    // of these, what does not depend on comparisons
	tooMany  bool        // they are some of too many
	now      *result     // nil: it is open
	vague    bool        // boundary values do not decide each operand that reads it
	peers    []*variable // that it is compared with
	offset   int         // the largest number that is added to it before
	consts   []any       // that it is compared with
}

// use is a path that an operand reads.
type use struct {
	read
	status  *variable // of the fact; nil: it is none
	value   *variable // nil: the evaluator finds it
	isTruth bool      // it is a let that is true or false
}

// uses is what an operand depends on.
type uses struct {
	reads []use
	asks  []*variable // the statuses of the facts that it asks about
	vague bool        // boundary values do not decide the operand
	atom  *variable   // for the operand as a whole
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
			if x.ready(p.compiler); x.root == nil {
				continue
			}
			for _, o := range x.leaves {
				m.uses[o] = m.usesOf(p, x, o)
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
		if v.values == nil {
			m.domain(v)
		}
	}
	for _, u := range m.uses {
		if !u.vague && !slices.ContainsFunc(u.reads, func(r use) bool { return r.value != nil && r.value.tooMany }) {
			u.atom = nil
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
func (m *model) usesOf(p *Policy, x *expression, o *operand) *uses {
	u, values := &uses{}, []result{known(true), {state: missing}, {state: failed}, known(false)}
	question := len(o.reads) > 0
	for _, r := range o.reads {
		u.reads = append(u.reads, m.use(p, r))
		question = question && r.path.root.meaning == function
	}
	slices.SortStableFunc(u.reads, func(a, b use) int { return len(a.path.steps) - len(b.path.steps) })
	for _, s := range o.asks {
		u.asks = append(u.asks, m.status(s.fact))
	}
	u.vague = !u.decided(*o.slot)
	switch {
	case x.symbol != nil && !isTruth(p, x.symbol): // it is known or not
		values = values[:3]
	case question && len(m.policies) > 1: // they are compared where it has an answer
		values = []result{known(true), known(false)}
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

// isTruth reports whether a let is true or false.
func isTruth(p *Policy, s *symbol) bool {
	return s.let.root != nil && s.let.root.leaf == nil || p.compiler.engine.conf.Env.Fields[s.name].Kind == reflect.Bool
}

// status returns the variable of a fact's status. It has the value of a fact of whose fields nothing is known. Where the file of an invalid
// one would be, a test has a directory.
func (m *model) status(f *Fact) *variable {
	v := variable{key: "status of " + f.Name, at: []string{"facts", f.Name}, isStatus: true, values: []result{known(map[string]any{})}}
	if t := f.symbol.typ; t != nil && (t.Kind == "array" || t.Kind == "string") {
		v.values[0].value = m.likely.of(t, 0)[0]
	}
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
func (m *model) use(p *Policy, r read) use {
	u, s := use{read: r}, r.path.root
	v := variable{key: fmt.Sprint(s.name, r.path.steps), typ: cmp.Or(r.path.typ, &schema.Type{})}
	v.kind = v.typ.Kind
	variable, isVariable := strings.CutPrefix(s.name, "env.")
	switch {
	case s.let != nil:
		u.isTruth = isTruth(p, s)
		return u
	case s.meaning == function || s.meaning == givenName || s.meaning == textName || v.typ.Go != nil:
		return u
	case s.meaning == constant:
		if len(m.policies) > 1 { // it has one value
			v.key += " = " + show(s.value)
			v.typ = &schema.Type{Kind: v.kind, Enum: []any{s.value}}
		}
	case s.fact != nil:
		u.status, v.at = m.status(s.fact), []string{"facts", s.name}
		if known := s.fact.source.typ != nil && s.fact.Source != "frontmatter" && s.fact.Schema == nil; known {
			break
		}
		if v.others = []result{{state: failed}}; len(r.path.steps) > 0 && !alwaysThere(s.typ, r.path.steps) {
			v.others = append(v.others, result{state: missing})
		}
	case s.name == "loop":
		v.at = []string{"memory"}
	case isVariable:
		v.at = []string{"env", variable}
	default:
		v.at = []string{"event", s.name}
	}
	if s.meaning == ralphName && len(m.policies) == 1 {
		v.others = []result{{state: failed}}
	}
	if v.at != nil {
		v.at = slices.Concat(v.at, r.path.steps)
	}
	u.value = m.variable(v)
	return u
}

// alwaysThere reports whether a field is present wherever its fact is ok.
func alwaysThere(t *schema.Type, path []string) bool {
	for _, name := range path {
		if t = t.At(name); t == nil || !t.HasDefault {
			return false
		}
	}
	return true
}
