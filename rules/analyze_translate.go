package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/solve"
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

	conds map[*cond]*outcomes
	reads map[*cond]*outcomes
	trees map[*operand]ast.Node

	at string // the operand that is translated, as it is written
}

func newTranslator(m *model, p *Program, fixed bool) *translator {
	return &translator{
		model: m, c: p.compiler, fixed: fixed, meanings: map[*Fact]string{},
		conds: map[*cond]*outcomes{}, reads: map[*cond]*outcomes{}, trees: map[*operand]ast.Node{},
	}
}

// outcomes says when a condition is true, false and broken. Otherwise it is
// unknown. For expressions that are no conditions yes means that there is a value.
type outcomes struct{ yes, no, broken *solve.Formula }

// choose is a where o is true, and b where it is false.
func (o *outcomes) choose(a, b *outcomes) *outcomes {
	return &outcomes{
		yes:    solve.Or(solve.And(o.yes, a.yes), solve.And(o.no, b.yes)),
		no:     solve.Or(solve.And(o.yes, a.no), solve.And(o.no, b.no)),
		broken: solve.Or(o.broken, solve.And(o.yes, a.broken), solve.And(o.no, b.broken)),
	}
}

func (o *outcomes) size() int { return o.yes.Size() + o.no.Size() + o.broken.Size() }

// maxFormula bounds what lets that name lets that name lets can grow to.
const maxFormula = 5000

// when says how a condition comes out. nil is the condition of a rule without one.
func (t *translator) when(c *cond) *outcomes {
	if c == nil {
		return &outcomes{solve.True(), solve.False(), solve.False()}
	}
	if o := t.conds[c]; o != nil {
		return o
	}
	var out *outcomes
	switch c.op {
	case leaf:
		out = t.leaf(c.operand)
	case not:
		k := t.when(c.kids[0])
		out = &outcomes{k.no, k.yes, k.broken}
	case choose:
		out = t.when(c.kids[0]).choose(t.when(c.kids[1]), t.when(c.kids[2]))
	default:
		var yes, no, bad []*solve.Formula
		for _, kid := range c.kids {
			k := t.when(kid)
			yes, no, bad = append(yes, k.yes), append(no, k.no), append(bad, k.broken)
		}
		// An operand that decides makes up for broken ones beside it.
		if c.op == and {
			out = &outcomes{yes: solve.And(yes...), no: solve.Or(no...)}
			out.broken = solve.And(solve.Not(out.no), solve.Or(bad...))
		} else {
			out = &outcomes{yes: solve.Or(yes...), no: solve.And(no...)}
			out.broken = solve.And(solve.Not(out.yes), solve.Or(bad...))
		}
	}
	if out.size() > maxFormula {
		t.at = "a condition with too many parts"
		out = t.opaque("condition", []string{t.side, fmt.Sprintf("%p", c)}, 4)
	}
	t.conds[c] = out
	return out
}

// value says whether there is a value of an expression that is no condition.
func (t *translator) value(c *cond) *outcomes {
	if o := t.reads[c]; o != nil {
		return o
	}
	var out *outcomes
	switch c.op {
	case leaf:
		known, bad := t.reading(c.operand)
		out = &outcomes{yes: known, no: solve.False(), broken: bad}
		n := t.tree(c.operand)
		if _, plain := t.sideOf(n, c.operand.snippet.scope); !plain && t.comparison(n, c.operand.snippet.scope) == nil {
			t.at = c.operand.text
			o := t.opaqueNode(n)
			out.yes = solve.And(known, solve.Not(o.broken))
			out.broken = solve.Or(bad, solve.And(known, o.broken))
		}
	case choose:
		out = t.when(c.kids[0]).choose(t.value(c.kids[1]), t.value(c.kids[2]))
	default:
		w := t.when(c)
		out = &outcomes{yes: solve.Or(w.yes, w.no), no: solve.False(), broken: w.broken}
	}
	if out.size() > maxFormula {
		t.at = "a value with too many parts"
		o := t.opaque("value", []string{t.side, fmt.Sprintf("%p", c)}, 4)
		out = &outcomes{yes: solve.Or(o.yes, o.no), no: solve.False(), broken: o.broken}
	}
	t.reads[c] = out
	return out
}

// leaf says how an operand comes out.
func (t *translator) leaf(o *operand) *outcomes {
	known, bad := t.reading(o)
	n := t.tree(o)
	t.at = o.text
	w := t.proposition(n, o.snippet.scope)
	return &outcomes{
		yes:    solve.And(known, w.yes),
		no:     solve.And(known, w.no),
		broken: solve.Or(bad, solve.And(known, w.broken)),
	}
}

// reading says when all that an operand names is known, and when some of it is broken.
func (t *translator) reading(o *operand) (all, bad *solve.Formula) {
	var has, breaks, usable []*solve.Formula
	for _, s := range o.syms {
		switch s.kind {
		case factSymbol:
			has = append(has, t.status(s.fact, isOK))
		case letSymbol:
			v := t.value(s.let.root)
			has, breaks = append(has, v.yes), append(breaks, v.broken)
		}
	}
	for _, a := range o.reads {
		if f := a.fact.fact; f != nil && f.Schema != nil && len(a.path) > 0 {
			usable = append(usable, solve.Or(solve.Not(t.status(f, isOK)), solve.In(t.usable(f, a.path).v, isUsable)))
		}
	}
	return solve.And(append(has, usable...)...), solve.Or(breaks...)
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
func (t *translator) status(f *Fact, status int) *solve.Formula {
	return solve.In(t.statusOf(f).v, status)
}

func (t *translator) statusOf(f *Fact) *quantity {
	name := t.labelOf(f)
	q := t.byKey["status "+name]
	if q != nil {
		return q
	}
	q = t.define("status "+name, func() *quantity {
		return &quantity{kind: factStatus, v: t.space.Choice(3, isOK), name: name, fact: f}
	})
	otherwise := isMissing
	if f.HasDefault { // it stands in for a fact that is missing, whatever the reason
		otherwise = isOK
		t.always = append(t.always, solve.Not(solve.In(q.v, isMissing)))
	}
	for _, a := range f.args {
		for _, s := range a.segs {
			if s.hole == nil {
				continue
			}
			for _, g := range needed(s.hole) {
				if g != f {
					t.always = append(t.always, solve.Or(t.status(g, isOK), solve.In(q.v, otherwise)))
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
		return &quantity{kind: fieldUsable, v: t.space.Choice(2, isUsable), name: name, fact: f, path: path}
	})
}

// aside says that unless_repeated lets a rule step aside.
func (t *translator) aside(r *Rule) *solve.Formula {
	if r.Unless == nil {
		return solve.False()
	}
	q := t.define(fmt.Sprint("aside ", r.Name, *r.Unless), func() *quantity {
		return &quantity{kind: ruleAside, v: t.space.Choice(2, isActive), name: r.Name, times: r.Unless.Times}
	})
	return solve.In(q.v, isAside)
}

// proposition says how a resolved expression comes out when all it names is known.
func (t *translator) proposition(n ast.Node, sc *scope) *outcomes {
	switch n := n.(type) {
	case *ast.BoolNode:
		return t.test(n.Value)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			w := t.proposition(n.Node, sc)
			return &outcomes{w.no, w.yes, w.broken}
		}
	case *ast.IdentifierNode:
		switch s := t.c.table.find(n.Value); {
		case s == nil:
		case s.kind == letSymbol:
			return t.when(s.let.root)
		case s.kind == askSymbol:
			status := map[string]int{"ok": isOK, "missing": isMissing, "invalid": isInvalid}
			if i, ok := status[s.ask]; ok {
				f := t.status(s.fact, i)
				return &outcomes{f, solve.Not(f), solve.False()}
			}
		}
	}
	if w := t.comparison(n, sc); w != nil {
		return w
	}
	if s, ok := t.sideOf(n, sc); ok && s.choice != nil {
		yes, no := t.is(s.choice, true), t.is(s.choice, false)
		return &outcomes{yes, no, solve.And(solve.Not(yes), solve.Not(no))}
	} else if ok && s.constant {
		if b, is := s.value.(bool); is {
			return t.test(b)
		}
	}
	return t.opaqueNode(n)
}

func (t *translator) test(b bool) *outcomes {
	if b {
		return &outcomes{solve.True(), solve.False(), solve.False()}
	}
	return &outcomes{solve.False(), solve.True(), solve.False()}
}

// opaqueNode is an expression that the model knows nothing of. Equal ones are the
// same choice, and x != y is not x == y.
func (t *translator) opaqueNode(n ast.Node) *outcomes {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "==" || b.Operator == "!=") {
		sides := []string{t.text(b.Left), t.text(b.Right)}
		slices.Sort(sides)
		o := t.opaque("==", sides, 3)
		if b.Operator == "!=" {
			return &outcomes{o.no, o.yes, o.broken}
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
func (t *translator) opaque(kind string, texts []string, outcomesOf int) *outcomes {
	key := "opaque " + kind + " " + strings.Join(texts, "\x00")
	q := t.define(key, func() *quantity {
		return &quantity{kind: opaqueTest, v: t.space.Opaque(outcomesOf), name: t.at}
	})
	out := &outcomes{yes: solve.In(q.v, isYes), no: solve.In(q.v, isNo), broken: solve.False()}
	if outcomesOf > 2 {
		out.broken = solve.In(q.v, isError)
	}
	return out
}
