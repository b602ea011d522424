package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/schema"
)

// model evaluates conditions in situations that are not real. A situation gives values to variables, such as the status of a fact and the
// value of a field. The evaluator is that of decisions, with a further truth: what needs a variable without a value is open.
//
// There are two kinds of models. The situations of one for claims are all that can be, and others: a condition that holds in none of them
// never holds. There, an operand that boundary values do not decide, such as a text that matches a pattern, is a variable of its own, and
// so is a let that is no condition. Every situation of the other kind can be, and some are left out: it finds examples.
type model struct {
	policies  []*Policy
	claims    bool
	evals     []*evaluation // for claims, one for each policy
	vars      []*variable
	byKey     map[string]*variable
	uses      map[*operand]*uses
	constants []any    // of conditions and lets, for examples
	fields    []string // of elements of lists, for examples

	wanted *variable // the first that was open in this test
	seen   []bool    // those that this test depends on, by their index
	filled bool      // open variables have their first value
	left   int       // operands that the search may still evaluate
	room   int       // that all searches may
}

// what says what a variable is.
type what int

const (
	ofStatus what = iota // of a fact
	ofValue              // of a name, or of a field below it
	ofAnswer             // of said, mentions or exists
	ofCount              // how often a rule with at_most was applied
	ofAtom               // of an operand that boundary values do not decide
)

// variable is what a situation gives a value to.
type variable struct {
	what    what
	name    string   // of a fact, name, function or rule; the text of an operand
	path    []string // the fields below the name; the argument of the function
	typ     *schema.Type
	kind    string   // of the value: a type of JSON Schema, "" for any
	values  []result // all that it may have; none: they are too many
	others  []result // of these, what does not depend on comparisons
	now     *result  // nil: it is open
	index   int
	peers   []*variable // that it is compared with
	offsets []float64   // between it and its peers
	consts  []any       // that it is compared with
}

// use is a path that an operand reads, or a fact that it asks about.
type use struct {
	read
	status *variable // of the fact; nil: it is none
	value  *variable // nil: the evaluator finds it
	inner  bool      // it is a let, whose operands have variables
}

// uses is what an operand depends on.
type uses struct {
	reads, asks []use
	atom        *variable // for the operand as a whole
}

var errOpen = errors.New("it is open")

// newModel makes a model of one policy with any params, or of two with theirs. Facts and names of the same name are the same.
func newModel(claims bool, policies ...*Policy) *model {
	m := &model{policies: policies, claims: claims, byKey: map[string]*variable{}, uses: map[*operand]*uses{}, room: allSteps}
	if !claims {
		m.room /= 20
	}
	decided := map[*operand]bool{}
	for _, p := range policies {
		e := p.evaluation(context.Background(), Input{})
		e.model, e.tested = m, make([]truth, len(p.compiler.paths))
		m.evals = append(m.evals, e)
		for _, x := range p.compiler.expressions {
			x.ready(p.compiler)
			inCondition := x.condition || x.symbol != nil
			if x.root == nil || claims && !inCondition {
				continue
			}
			for _, o := range x.root.operands() {
				u := m.usesOf(p, o)
				m.uses[o], decided[o] = u, m.decided(u, *o.slot)
				if inCondition {
					m.note(p, *o.slot)
				}
			}
		}
	}
	for _, v := range m.vars {
		if v.what == ofValue {
			v.values = append(m.domain(v), v.others...)
		}
	}
	slices.SortStableFunc(m.vars, func(a, b *variable) int { return len(a.path) - len(b.path) }) // an object is before its fields
	for o, u := range m.uses {
		tooMany := slices.ContainsFunc(u.reads, func(r use) bool { return r.value != nil && len(r.value.values) == len(r.value.others) })
		if claims && (!decided[o] || tooMany) {
			values := []result{{value: true, state: yes}, {value: false, state: yes}, {state: missing}, {state: failed}}
			question := !slices.ContainsFunc(u.reads, func(r use) bool { return r.path.root.meaning != function })
			if len(policies) > 1 && question { // they are compared where it has an answer
				values = values[:2]
			}
			u.atom = m.variable(variable{what: ofAtom, name: o.text, values: values})
		}
	}
	return m
}

// operands returns the operands of a condition, from left to right.
func (x *cond) operands() []*operand {
	if x.leaf != nil {
		return []*operand{x.leaf}
	}
	out := x.l.operands()
	if x.r != nil {
		out = append(out, x.r.operands()...)
	}
	return out
}

// variable returns the variable that is like v, and makes it if there is none.
func (m *model) variable(v variable) *variable {
	key := fmt.Sprint(v.what, " ", v.name, v.path)
	if m.byKey[key] == nil {
		v.index = len(m.vars)
		m.byKey[key], m.vars, m.seen = &v, append(m.vars, &v), append(m.seen, false)
	}
	return m.byKey[key]
}

// usesOf finds what an operand reads and asks about.
func (m *model) usesOf(p *Policy, o *operand) *uses {
	u := &uses{}
	for _, r := range o.reads {
		u.reads = append(u.reads, m.use(p, r))
	}
	ast.Walk(o.slot, visitor(func(n *ast.Node) {
		if _, fact := asked(*n); fact != "" {
			s := p.compiler.symbols[fact]
			u.asks = append(u.asks, use{read: read{path: &valuePath{root: s}}, status: m.status(s.fact)})
		}
	}))
	return u
}

// asked returns the function and the fact of a call such as ok(state).
func asked(n ast.Node) (function, fact string) {
	if c, ok := n.(*ast.CallNode); ok && len(c.Arguments) == 1 {
		id, isName := c.Callee.(*ast.IdentifierNode)
		if arg, ok := c.Arguments[0].(*ast.StringNode); ok && isName && asking[id.Value] {
			return id.Value, arg.Value
		}
	}
	return "", ""
}

// status returns the variable of a fact's status. For examples it is invalid only where a test can say so.
func (m *model) status(f *Fact) *variable {
	v := variable{what: ofStatus, name: f.Name, values: []result{{state: yes}}}
	if !f.defaults {
		v.values = append(v.values, result{state: missing})
	}
	if literal := f.OnePath && len(f.args[0].exprs) == 0; m.claims || literal || isReplaced(f) {
		v.values = append(v.values, result{state: failed})
	}
	return m.variable(v)
}

func isReplaced(f *Fact) bool { return slices.Contains([]string{"exec", "git", "judge"}, f.Source) }

// use finds the variables of a path.
func (m *model) use(p *Policy, r read) use {
	u, s := use{read: r}, r.path.root
	v := variable{what: ofValue, name: s.name, path: r.path.steps, typ: r.path.typ, kind: kindIn(p, r.path)}
	switch s.meaning {
	case function, givenName, textName:
		return u
	case constant:
		if !m.claims || len(m.policies) > 1 {
			return u
		}
	case letName:
		if u.inner = !m.claims || s.let.root != nil && (s.let.root.leaf == nil || v.kind == "boolean"); u.inner {
			return u
		}
		v.others = []result{{state: yes}, {state: missing}, {state: failed}}
	case factName:
		u.status = m.status(s.fact)
		declared := s.fact.Schema != nil
		if known := s.fact.source.typ != nil && s.fact.Source != "frontmatter" && !declared; known {
			break
		}
		if len(v.path) > 0 && !alwaysThere(s.typ, v.path) {
			v.others = append(v.others, result{state: missing})
		}
		if m.claims || declared && v.kind != "" {
			v.others = append(v.others, result{state: failed})
		}
	default:
		if m.claims && len(m.policies) == 1 {
			v.others = []result{{state: failed}}
		}
	}
	if v.typ == nil || v.typ.Go == nil {
		u.value = m.variable(v)
	}
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

// kindIn returns the kind of a path's value. The type of a let is that which the checker found.
func kindIn(p *Policy, path *valuePath) string {
	if path.typ != nil {
		return path.typ.Kind
	}
	if path.root.let == nil || len(path.steps) > 0 {
		return ""
	}
	n := p.compiler.engine.conf.Env.Fields[path.root.name]
	if n.IsInteger {
		return "integer"
	}
	return map[string]string{"a number": "number", "a text": "string", "true or false": "boolean", "a list": "array"}[typeWord(n.String())]
}
