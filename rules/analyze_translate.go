package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// translator says in the formulas of a model when the conditions of one program
// are true, false and broken. What it cannot express becomes an opaque choice of
// the same text: the formulas then allow more states than there are, never fewer.
type translator struct {
	*model
	c     *compiler
	fixed bool // params have their values; otherwise any that they can be given

	other    *translator // of the program that this one is compared with, nil if none
	side     string      // what this one is called then
	meanings map[*Fact]string

	conds map[*cond]*analysis.Outcomes
	reads map[*cond]*analysis.Outcomes
	trees map[*operand]ast.Node

	at string // the operand that is translated, as it is written
}

func newTranslator(m *model, p *Program, fixed bool) *translator {
	return &translator{
		model: m, c: p.compiler, fixed: fixed, meanings: map[*Fact]string{},
		conds: map[*cond]*analysis.Outcomes{}, reads: map[*cond]*analysis.Outcomes{}, trees: map[*operand]ast.Node{},
	}
}

// maxFormula bounds what lets that name lets that name lets can grow to.
const maxFormula = 5000

// when says how a condition comes out. nil is the condition of a rule without one.
func (t *translator) when(c *cond) *analysis.Outcomes {
	if c == nil {
		return analysis.Always(true)
	}
	if o := t.conds[c]; o != nil {
		return o
	}
	var out *analysis.Outcomes
	switch c.op {
	case leaf:
		out = t.leaf(c.operand)
	case not:
		out = t.when(c.kids[0]).Not()
	case choose:
		out = t.when(c.kids[0]).Choose(t.when(c.kids[1]), t.when(c.kids[2]))
	default:
		parts := make([]*analysis.Outcomes, len(c.kids))
		for i, kid := range c.kids {
			parts[i] = t.when(kid)
		}
		if out = analysis.AllOf(parts); c.op == or {
			out = analysis.OneOf(parts)
		}
	}
	if out.Size() > maxFormula {
		t.at = "a condition with too many parts"
		out = t.opaque("condition", []string{t.side, fmt.Sprintf("%p", c)}, 4)
	}
	t.conds[c] = out
	return out
}

// value says whether there is a value of an expression that is no condition.
func (t *translator) value(c *cond) *analysis.Outcomes {
	if o := t.reads[c]; o != nil {
		return o
	}
	var out *analysis.Outcomes
	switch c.op {
	case leaf:
		known, bad := t.reading(c.operand)
		out = &analysis.Outcomes{Yes: known, No: analysis.False(), Broken: bad}
		n := t.tree(c.operand)
		if _, plain := t.sideOf(n, c.operand.snippet.scope); !plain && t.comparison(n, c.operand.snippet.scope) == nil {
			t.at = c.operand.text
			o := t.opaqueNode(n)
			out.Yes = analysis.And(known, analysis.Not(o.Broken))
			out.Broken = analysis.Or(bad, analysis.And(known, o.Broken))
		}
	case choose:
		out = t.when(c.kids[0]).Choose(t.value(c.kids[1]), t.value(c.kids[2]))
	default:
		w := t.when(c)
		out = &analysis.Outcomes{Yes: analysis.Or(w.Yes, w.No), No: analysis.False(), Broken: w.Broken}
	}
	if out.Size() > maxFormula {
		t.at = "a value with too many parts"
		o := t.opaque("value", []string{t.side, fmt.Sprintf("%p", c)}, 4)
		out = &analysis.Outcomes{Yes: analysis.Or(o.Yes, o.No), No: analysis.False(), Broken: o.Broken}
	}
	t.reads[c] = out
	return out
}

// leaf says how an operand comes out.
func (t *translator) leaf(o *operand) *analysis.Outcomes {
	known, bad := t.reading(o)
	n := t.tree(o)
	t.at = o.text
	w := t.proposition(n, o.snippet.scope)
	return &analysis.Outcomes{
		Yes:    analysis.And(known, w.Yes),
		No:     analysis.And(known, w.No),
		Broken: analysis.Or(bad, analysis.And(known, w.Broken)),
	}
}

// reading says when all that an operand names is known, and when some of it is broken.
func (t *translator) reading(o *operand) (all, bad *analysis.Formula) {
	var has, breaks, usable []*analysis.Formula
	for _, s := range o.syms {
		switch s.kind {
		case factSymbol:
			has = append(has, t.status(s.fact, isOK))
		case letSymbol:
			v := t.value(s.let.root)
			has, breaks = append(has, v.Yes), append(breaks, v.Broken)
		}
	}
	for _, a := range o.reads {
		if f := a.fact.fact; f != nil && f.Schema != nil && len(a.path) > 0 {
			usable = append(usable, analysis.Or(analysis.Not(t.status(f, isOK)), analysis.In(t.usable(f, a.path).Var, isUsable)))
		}
	}
	return analysis.And(append(has, usable...)...), analysis.Or(breaks...)
}

// tree gives the resolved expression of an operand.
func (t *translator) tree(o *operand) ast.Node {
	if n, ok := t.trees[o]; ok {
		return n
	}
	n := t.resolved(o.text, o.snippet.scope)
	t.trees[o] = n
	return n
}

func (t *translator) resolved(src string, sc *scope) ast.Node {
	parsed, err := t.c.engine.parse(src)
	if err != nil {
		return &ast.NilNode{}
	}
	r := t.c.silentResolver(sc)
	r.node(&parsed.Node)
	return parsed.Node
}

// status says that a fact stands like this.
func (t *translator) status(f *Fact, status int) *analysis.Formula {
	return analysis.In(t.statusOf(f).Var, status)
}

func (t *translator) statusOf(f *Fact) *quantity {
	name := t.labelOf(f)
	q := t.byKey["status "+name]
	if q != nil {
		return q
	}
	q = t.define("status "+name, func() *quantity {
		return &quantity{kind: factStatus, Quantity: t.Choice(3, isOK), name: name, fact: f}
	})
	otherwise := isMissing
	if f.HasDefault { // it stands in for a fact that is missing, whatever the reason
		otherwise = isOK
		t.Always(analysis.Not(analysis.In(q.Var, isMissing)))
	}
	for _, a := range f.args {
		for _, s := range a.segs {
			if s.hole == nil {
				continue
			}
			for _, g := range needed(s.hole) {
				if g != f {
					t.Always(analysis.Or(t.status(g, isOK), analysis.In(q.Var, otherwise)))
				}
			}
		}
	}
	return q
}

// needed lists facts without which an expression has no value.
func needed(c *cond) []*Fact {
	switch c.op {
	case leaf:
		var out []*Fact
		for _, s := range c.operand.syms {
			switch s.kind {
			case factSymbol:
				out = append(out, s.fact)
			case letSymbol:
				out = append(out, needed(s.let.root)...)
			}
		}
		return out
	case not:
		return needed(c.kids[0])
	case choose:
		out := needed(c.kids[0])
		other := needed(c.kids[2])
		for _, f := range needed(c.kids[1]) {
			if slices.Contains(other, f) {
				out = append(out, f)
			}
		}
		return out
	}
	return nil
}

func (t *translator) usable(f *Fact, path []string) *quantity {
	name := t.labelOf(f)
	return t.define("usable "+name+" "+strings.Join(path, "\x00"), func() *quantity {
		return &quantity{kind: fieldUsable, Quantity: t.Choice(2, isUsable), name: name, fact: f, path: path}
	})
}

// aside says that unless_repeated lets a rule step aside.
func (t *translator) aside(r *Rule) *analysis.Formula {
	if r.Unless == nil {
		return analysis.False()
	}
	q := t.define(fmt.Sprint("aside ", r.Name, *r.Unless), func() *quantity {
		return &quantity{kind: ruleAside, Quantity: t.Choice(2, isActive), name: r.Name, times: r.Unless.Times}
	})
	return analysis.In(q.Var, isAside)
}

// proposition says how a resolved expression comes out when all it names is known.
func (t *translator) proposition(n ast.Node, sc *scope) *analysis.Outcomes {
	switch n := n.(type) {
	case *ast.BoolNode:
		return analysis.Always(n.Value)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			w := t.proposition(n.Node, sc)
			return w.Not()
		}
	case *ast.IdentifierNode:
		switch s := t.c.table.find(n.Value); {
		case s == nil:
		case s.kind == letSymbol:
			return t.when(s.let.root)
		case s.kind == askSymbol:
			status := map[string]int{"ok": isOK, "missing": isMissing, "invalid": isInvalid}
			if i, ok := status[s.ask]; ok {
				return analysis.When(t.status(s.fact, i))
			}
		}
	}
	if w := t.comparison(n, sc); w != nil {
		return w
	}
	if s, ok := t.sideOf(n, sc); ok {
		if w := t.Truth(s); w != nil {
			return w
		}
	}
	return t.opaqueNode(n)
}

// opaqueNode is an expression that the model knows nothing of. Equal ones are the
// same choice, and x != y is not x == y.
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
	if neverFails(n) {
		outcomes = 2
	}
	return t.opaque("", []string{t.text(n)}, outcomes)
}

// text writes an expression so that equal texts mean the same.
func (t *translator) text(n ast.Node) string {
	if t.other != nil {
		return t.meaningOfNode(n)
	}
	return n.String()
}

// neverFails reports whether an expression is a test of ralph's own whose answer
// is always yes or no.
func neverFails(n ast.Node) bool {
	c, ok := n.(*ast.CallNode)
	if !ok || len(c.Arguments) != 1 {
		return false
	}
	id, ok := c.Callee.(*ast.IdentifierNode)
	_, literal := c.Arguments[0].(*ast.StringNode)
	return ok && literal && slices.Contains([]string{vocab.Said, vocab.Promised, vocab.Mentions, vocab.Exists, vocab.IsDir, vocab.AnyFile}, id.Value)
}

// opaque is a choice between so many outcomes: no, yes, broken, unknown.
func (t *translator) opaque(kind string, texts []string, outcomesOf int) *analysis.Outcomes {
	key := "opaque " + kind + " " + strings.Join(texts, "\x00")
	q := t.define(key, func() *quantity {
		return &quantity{kind: opaqueTest, Quantity: t.Opaque(outcomesOf), name: t.at}
	})
	out := &analysis.Outcomes{Yes: analysis.In(q.Var, isYes), No: analysis.In(q.Var, isNo), Broken: analysis.False()}
	if outcomesOf > 2 {
		out.Broken = analysis.In(q.Var, isError)
	}
	return out
}
