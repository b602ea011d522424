package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// translator translates the conditions of one program into formulas for when they are true, false and invalid. What it
// cannot express becomes an opaque choice with the same text, so that the formulas allow more states than exist, never
// fewer.
type translator struct {
	*model
	c     *compiler
	fixed bool // params have their values; otherwise any valid ones

	other    *translator // of the program to compare with, or nil
	side     string      // what messages then call this one
	meanings map[*Fact]string

	made map[subject]*analysis.Outcomes

	at string // the text of the current operand
}

func newTranslator(m *model, p *Program, fixed bool) *translator {
	return &translator{
		model: m, c: p.machine.compiler, fixed: fixed, meanings: map[*Fact]string{}, made: map[subject]*analysis.Outcomes{},
	}
}

// maxFormula bounds formulas of lets that name other lets.
const maxFormula = 5000

// subject is a condition, or an expression that only matters for whether it has a value.
type subject struct {
	c     *cond
	value bool
}

// when returns the outcomes of a condition. nil is the condition of a rule without one.
func (t *translator) when(c *cond) *analysis.Outcomes {
	if c == nil {
		return analysis.Always(true)
	}
	return t.outcomes(subject{c, false})
}

// tried returns when a rule holds, and when it ends the trying because it is undecided.
func (t *translator) tried(r *Rule) (holds, fails *analysis.Formula) {
	w, active, fails := t.when(r.when), analysis.True(), analysis.False()
	if r.Await != nil {
		q := t.choice(fmt.Sprint("waited ", r.Name, r.Await.For), 2, quantity{kind: ruleWaited, name: r.Name, limit: r.Await.For})
		active = analysis.In(q.Var, isActive)
	}
	if r.Unless != nil {
		q := t.choice(fmt.Sprint("spent ", r.Name, *r.Unless), 2, quantity{kind: ruleSpent, name: r.Name, times: r.Unless.Times})
		active = analysis.And(active, analysis.In(q.Var, isActive))
	}
	switch {
	case r.Halts:
		fails = analysis.And(analysis.Not(analysis.Or(w.Yes, w.No)), active)
	case r.stops():
		fails = analysis.And(w.Broken, active)
	}
	return analysis.And(w.Yes, active), fails
}

func (t *translator) outcomes(p subject) *analysis.Outcomes {
	if o := t.made[p]; o != nil {
		return o
	}
	var out *analysis.Outcomes
	switch kids := p.c.kids; {
	case p.c.op == leaf:
		out = t.leaf(p.c.operand, p.value)
	case p.c.op == choose:
		out = t.when(kids[0]).Choose(t.outcomes(subject{kids[1], p.value}), t.outcomes(subject{kids[2], p.value}))
	case p.value:
		out = t.when(p.c).Known()
	case p.c.op == not:
		out = t.when(kids[0]).Not()
	case p.c.op == untrue:
		out = t.when(kids[0]).Untrue()
	default:
		parts := make([]*analysis.Outcomes, len(kids))
		for i, kid := range kids {
			parts[i] = t.when(kid)
		}
		if out = analysis.AllOf(parts); p.c.op == or {
			out = analysis.OneOf(parts)
		}
	}
	if out.Size() > maxFormula {
		t.at = "an expression with too many parts"
		if out = t.opaque("large", []string{t.side, fmt.Sprintf("%p", p.c)}, 4); p.value {
			out = out.Known()
		}
	}
	t.made[p] = out
	return out
}

// leaf returns the outcomes of an operand, or with value whether it has a value.
func (t *translator) leaf(o *operand, value bool) *analysis.Outcomes {
	known, bad := t.reading(o)
	n := o.tree()
	t.at = o.src.text
	w := analysis.Always(true)
	if !value {
		w = t.proposition(n)
	} else if _, plain := t.sideOf(n); !plain && t.comparison(n) == nil {
		w = t.opaqueNode(n).Known()
	}
	return &analysis.Outcomes{
		Yes:    analysis.And(known, w.Yes),
		No:     analysis.And(known, w.No),
		Broken: analysis.Or(bad, analysis.And(known, w.Broken)),
	}
}

// reading returns when everything that an operand names is known, and when some of it exists and cannot be used.
func (t *translator) reading(o *operand) (all, bad *analysis.Formula) {
	var has, breaks, usable []*analysis.Formula
	for _, s := range o.uses.syms {
		switch s.kind {
		case factSymbol:
			has, breaks = append(has, t.status(s.fact, isOK)), append(breaks, t.status(s.fact, isInvalid))
		case letSymbol:
			v := t.outcomes(subject{s.let.root, true})
			has, breaks = append(has, v.Yes), append(breaks, v.Broken)
		}
	}
	for _, a := range o.uses.reads {
		if f := a.fact.fact; f != nil && f.Schema != nil && len(a.path) > 0 {
			can := t.usable(f, a.path)
			usable = append(usable, analysis.Or(analysis.Not(t.status(f, isOK)), can))
			breaks = append(breaks, analysis.And(t.status(f, isOK), analysis.Not(can)))
		}
	}
	return analysis.And(append(has, usable...)...), analysis.Or(breaks...)
}

// status returns a formula for: a fact has this status.
func (t *translator) status(f *Fact, status int) *analysis.Formula {
	name := t.labelOf(f)
	known := t.byKey["status "+name] != nil
	q := t.choice("status "+name, 3, quantity{kind: factStatus, name: name, fact: f})
	if known {
		return analysis.In(q.Var, status)
	}
	otherwise := isMissing
	if f.HasDefault { // it replaces a missing fact whatever the reason
		otherwise = isOK
		t.Always(analysis.In(q.Var, isOK, isInvalid))
	}
	for _, g := range f.pathFacts() {
		if g != f {
			t.Always(analysis.Or(t.status(g, isOK), analysis.In(q.Var, otherwise)))
		}
	}
	return analysis.In(q.Var, status)
}

// pathFacts returns the facts that the path of a fact needs.
func (f *Fact) pathFacts() (out []*Fact) {
	for _, a := range f.plan.handed {
		if a.path == nil || a.name != "" {
			continue
		}
		for _, s := range a.path.segs {
			if s.placeholder != nil {
				out = append(out, needed(s.placeholder)...)
			}
		}
	}
	return out
}

// needed returns the facts that an expression needs for its value.
func needed(c *cond) (out []*Fact) {
	switch c.op {
	case leaf:
		for _, s := range c.operand.uses.syms {
			switch s.kind {
			case factSymbol:
				out = append(out, s.fact)
			case letSymbol:
				out = append(out, needed(s.let.root)...)
			}
		}
	case not:
		return needed(c.kids[0])
	case choose:
		other := needed(c.kids[2])
		out = slices.DeleteFunc(needed(c.kids[1]), func(f *Fact) bool { return !slices.Contains(other, f) })
		return append(out, needed(c.kids[0])...)
	}
	return out
}

// usable returns a formula for: a field of a fact has a value of its type.
func (t *translator) usable(f *Fact, path []string) *analysis.Formula {
	name := t.labelOf(f)
	q := t.choice("usable "+name+" "+strings.Join(path, "\x00"), 2, quantity{kind: fieldUsable, name: name, path: path})
	return analysis.In(q.Var, isUsable)
}

// proposition returns the outcomes of a resolved expression if everything that it names is known.
func (t *translator) proposition(n ast.Node) *analysis.Outcomes {
	switch n := n.(type) {
	case *ast.BoolNode:
		return analysis.Always(n.Value)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			w := t.proposition(n.Node)
			return w.Not()
		}
	case *ast.IdentifierNode:
		switch s := t.c.table.find(n.Value); {
		case s == nil:
		case s.kind == letSymbol:
			return t.when(s.let.root)
		case s.kind == nameSymbol && s.name == vocab.Waited: // whether the rules above have waited
			return t.opaqueNode(n)
		case s.kind == askSymbol:
			status := map[string]int{"ok": isOK, "missing": isMissing, "invalid": isInvalid}
			if i, ok := status[s.ask]; ok {
				return analysis.When(t.status(s.fact, i))
			}
		}
	}
	if w := t.comparison(n); w != nil {
		return w
	}
	if s, ok := t.sideOf(n); ok {
		if w := t.Truth(s); w != nil {
			return w
		}
	}
	return t.opaqueNode(n)
}

// opaqueNode returns the outcomes of an expression that the model cannot express. Equal expressions are one choice, and
// x != y is the opposite of x == y.
func (t *translator) opaqueNode(n ast.Node) *analysis.Outcomes {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "==" || b.Operator == "!=") {
		sides := []string{t.text(b.Left), t.text(b.Right)}
		slices.Sort(sides)
		o := t.opaque("==", sides, 3)
		if b.Operator == "!=" {
			return o.Not()
		}
		return o
	}
	outcomes := 3
	// A test by ralph itself is always true or false.
	if name, _ := literalCall(n); asksPaths(name) || slices.Contains([]string{vocab.Said, vocab.Promised, vocab.Mentions}, name) {
		outcomes = 2
	}
	return t.opaque("", []string{t.text(n)}, outcomes)
}

// text returns an expression in a form in which equal texts mean the same.
func (t *translator) text(n ast.Node) string {
	if t.other != nil {
		return t.meaningOfNode(n)
	}
	return n.String()
}

// opaque returns a choice among that many outcomes: no, yes, invalid, unknown.
func (t *translator) opaque(kind string, texts []string, outcomesOf int) *analysis.Outcomes {
	q := t.choice("opaque "+kind+" "+strings.Join(texts, "\x00"), outcomesOf, quantity{kind: opaqueTest, name: t.at})
	out := &analysis.Outcomes{Yes: analysis.In(q.Var, isYes), No: analysis.In(q.Var, isNo), Broken: analysis.False()}
	if outcomesOf > 2 {
		out.Broken = analysis.In(q.Var, isError)
	}
	return out
}
