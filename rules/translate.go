package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
	"github.com/ralph-sdk/ralph/schema"
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
		first, a, b := t.when(c.kids[0]), t.when(c.kids[1]), t.when(c.kids[2])
		out = &outcomes{
			yes:    solve.Or(solve.And(first.yes, a.yes), solve.And(first.no, b.yes)),
			no:     solve.Or(solve.And(first.yes, a.no), solve.And(first.no, b.no)),
			broken: solve.Or(first.broken, solve.And(first.yes, a.broken), solve.And(first.no, b.broken)),
		}
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
			o := t.opaqueNode(n)
			out.yes = solve.And(known, solve.Not(o.broken))
			out.broken = solve.Or(bad, solve.And(known, o.broken))
		}
	case choose:
		first, a, b := t.when(c.kids[0]), t.value(c.kids[1]), t.value(c.kids[2])
		out = &outcomes{
			yes:    solve.Or(solve.And(first.yes, a.yes), solve.And(first.no, b.yes)),
			no:     solve.False(),
			broken: solve.Or(first.broken, solve.And(first.yes, a.broken), solve.And(first.no, b.broken)),
		}
	default:
		w := t.when(c)
		out = &outcomes{yes: solve.Or(w.yes, w.no), no: solve.False(), broken: w.broken}
	}
	if out.size() > maxFormula {
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
	all, fine := solve.And(has...), solve.And(usable...)
	return solve.And(all, fine), solve.Or(append(breaks, solve.And(all, solve.Not(fine)))...)
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
	return ok && literal && slices.Contains([]string{"said", "promised", "mentions", "exists", "isdir"}, id.Value)
}

// opaque is a choice between so many outcomes: no, yes, broken, unknown.
func (t *translator) opaque(kind string, texts []string, outcomesOf int) *outcomes {
	key := "opaque " + kind + " " + strings.Join(texts, "\x00")
	q := t.define(key, func() *quantity {
		return &quantity{kind: opaqueTest, v: t.space.Opaque(outcomesOf)}
	})
	out := &outcomes{yes: solve.In(q.v, isYes), no: solve.In(q.v, isNo), broken: solve.False()}
	if outcomesOf > 2 {
		out.broken = solve.In(q.v, isError)
	}
	return out
}

// side is what a comparison compares: a constant, a choice, or a sum of numbers.
type side struct {
	constant bool
	value    any // of a constant

	choice *quantity
	isNil  any // what it is taken for when it is nil, if hasNil
	hasNil bool

	number  bool
	plus    []solve.Var
	minus   []solve.Var
	c       int
	present *solve.Formula // nil if it is never nil
}

// constantSide is a side whose value stands fast, if it is a plain one.
func constantSide(v any) (side, bool) {
	s := side{constant: true, value: v}
	switch v := v.(type) {
	case nil, string, bool:
	case int:
		s.number, s.c = true, v
		return s, v <= solve.MaxConstant && v >= -solve.MaxConstant
	default:
		return side{}, false
	}
	return s, true
}

// sideOf translates what is compared; false if the model cannot express it.
func (t *translator) sideOf(n ast.Node, sc *scope) (side, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constantSide(n.Value)
	case *ast.StringNode:
		return constantSide(n.Value)
	case *ast.BoolNode:
		return constantSide(n.Value)
	case *ast.NilNode:
		return constantSide(nil)
	case *ast.ChainNode:
		return t.sideOf(n.Node, sc)
	case *ast.UnaryNode:
		if n.Operator == "-" {
			if s, ok := t.sideOf(n.Node, sc); ok && s.number && s.present == nil {
				return s.negated(), true
			}
		}
	case *ast.BinaryNode:
		return t.combined(n, sc)
	case *ast.IdentifierNode:
		return t.named(n, sc)
	case *ast.MemberNode:
		return t.field(n, sc)
	}
	return side{}, false
}

func (s side) negated() side {
	out := side{constant: s.constant, number: true, plus: s.minus, minus: s.plus, c: -s.c}
	if out.constant {
		out.value = out.c
	}
	return out
}

// combined translates x + y, x - y and x ?? y.
func (t *translator) combined(n *ast.BinaryNode, sc *scope) (side, bool) {
	if n.Operator != "+" && n.Operator != "-" && n.Operator != "??" {
		return side{}, false
	}
	a, ok1 := t.sideOf(n.Left, sc)
	b, ok2 := t.sideOf(n.Right, sc)
	if !ok1 || !ok2 {
		return side{}, false
	}
	if n.Operator == "??" {
		switch {
		case a.choice != nil && b.constant && !a.hasNil:
			a.isNil, a.hasNil = b.value, true
			return a, true
		case a.number && a.present == nil:
			return a, true
		}
		return side{}, false
	}
	if !a.number || !b.number || a.present != nil || b.present != nil {
		return side{}, false
	}
	if n.Operator == "-" {
		b = b.negated()
	}
	s := side{number: true, plus: slices.Concat(a.plus, b.plus), minus: slices.Concat(a.minus, b.minus), c: a.c + b.c}
	if s.c > solve.MaxConstant || s.c < -solve.MaxConstant {
		return side{}, false
	}
	if a.constant && b.constant {
		s.constant, s.value = true, s.c
	}
	return s, true
}

// named translates a let, a param, one of ralph's names, or a fact that is a text.
func (t *translator) named(n *ast.IdentifierNode, sc *scope) (side, bool) {
	s := t.c.table.find(n.Value)
	if s == nil {
		return side{}, false
	}
	switch s.kind {
	case letSymbol:
		root := s.let.root
		if root == nil || root.op != leaf {
			return side{}, false
		}
		return t.sideOf(t.tree(root.operand), root.operand.snippet.scope)
	case constSymbol:
		if t.fixed || strings.Contains(s.key, "/") { // nobody gives an include other values
			return constantSide(s.value)
		}
		return t.typed("param "+s.key, s.typ, quantity{kind: paramValue, name: s.name}, s.value)
	case nameSymbol:
		switch {
		case s.info.askRow && s.info.zero() == any(0):
			zero := 0.0
			return t.typed("name "+s.key, &schema.Type{Kind: schema.Int, Min: &zero}, quantity{kind: nameValue, name: s.name}, 0)
		case s.typ != nil && s.name != "hook.raw":
			return t.typed("name "+s.key, s.typ, quantity{kind: nameValue, name: s.name}, s.info.zero())
		}
	case factSymbol:
		if s.fact.Source.Name == "text" {
			return t.typed(fieldKey(t.labelOf(s.fact), nil), s.typ, quantity{kind: fieldValue, name: t.labelOf(s.fact), fact: s.fact, nonempty: true}, nil)
		}
	}
	return side{}, false
}

// field translates a static path into a fact.
func (t *translator) field(n *ast.MemberNode, sc *scope) (side, bool) {
	r := t.c.silentResolver(sc)
	sym, path := r.chain(n)
	for sym != nil && sym.kind == letSymbol { // a let that is a path itself
		root := sym.let.root
		if root == nil || root.op != leaf {
			return side{}, false
		}
		base, start := t.c.silentResolver(root.operand.snippet.scope).chain(t.tree(root.operand))
		sym, path = base, slices.Concat(start, path)
	}
	if sym == nil || len(path) == 0 {
		return side{}, false
	}
	typ := sym.typ
	for i, step := range path {
		if typ == nil || step == "*" || isIndex(step) || typ.Kind != schema.Object {
			return side{}, false
		}
		if i > 0 && canBeNil(typ) {
			return side{}, false // to read through nothing is an error
		}
		typ = fieldOf(typ, step)
	}
	if typ == nil {
		return side{}, false
	}
	typ, ok := t.shared(sym.fact, path, typ)
	if !ok {
		return side{}, false
	}
	name := t.labelOf(sym.fact)
	var prefer any
	if typ.HasDefault {
		prefer = typ.Default
	}
	return t.typed(fieldKey(name, path), typ, quantity{kind: fieldValue, name: name, fact: sym.fact, path: path}, prefer)
}

// fieldKey is the key of the quantity that a field of a fact is.
func fieldKey(fact string, path []string) string {
	return "field " + fact + " " + strings.Join(path, "\x00")
}

// canBeNil reports whether a field can turn out to hold nothing.
func canBeNil(t *schema.Type) bool { return !t.HasDefault && (t.Optional || t.Nullable) }

// maxEnum bounds the values of an enum that the model follows one by one.
const maxEnum = 256

// typed makes a side of a quantity of a schema type, if the model can express it.
func (t *translator) typed(key string, typ *schema.Type, q quantity, prefer any) (side, bool) {
	if len(typ.Enum) > maxEnum {
		return side{}, false
	}
	q.nilable = canBeNil(typ)
	switch {
	case typ.Kind == schema.Int:
		q.number = true
		return t.numeric(key, typ, q, prefer)
	case typ.Kind == schema.Bool && len(typ.Enum) == 0:
		q.values = []any{false, true}
	case len(typ.Enum) > 0:
		for _, v := range typ.Enum {
			switch v.(type) {
			case string, bool, int, nil:
			default:
				return side{}, false
			}
			if !slices.Contains(q.values, v) {
				q.values = append(q.values, v)
			}
		}
	case typ.Kind == schema.String:
		q.values, q.open = []any{unnamed{}}, true
	default:
		return side{}, false
	}
	if typ.HasDefault && !q.open && !slices.Contains(q.values, typ.Default) {
		switch typ.Default.(type) {
		case string, bool, int, nil:
			q.values = append(q.values, typ.Default)
		default:
			return side{}, false
		}
	}
	if q.nilable && !slices.Contains(q.values, nil) {
		q.values = append(q.values, nil)
	}
	made := t.define(key, func() *quantity {
		first := max(0, slices.Index(q.values, prefer))
		if s, ok := prefer.(string); ok && q.open && !(q.nonempty && s == "") && first == 0 {
			q.values = append(q.values, s)
			first = len(q.values) - 1
		}
		q.v = t.space.Choice(len(q.values), first)
		return &q
	})
	return side{choice: made}, true
}

func (t *translator) numeric(key string, typ *schema.Type, q quantity, prefer any) (side, bool) {
	made := t.define(key, func() *quantity {
		q.min, q.max = -solve.MaxConstant-1, solve.MaxConstant+1
		if typ.Min != nil && *typ.Min >= -solve.MaxConstant && *typ.Min <= solve.MaxConstant {
			q.min = int(*typ.Min)
		}
		if typ.Max != nil && *typ.Max >= -solve.MaxConstant && *typ.Max <= solve.MaxConstant {
			q.max = int(*typ.Max)
		}
		want, _ := prefer.(int)
		// A default need not lie within the bounds.
		if d, ok := typ.Default.(int); ok && typ.HasDefault {
			q.min, q.max = min(q.min, d), max(q.max, d)
		}
		q.v = t.space.Int(q.min, q.max, want)
		if q.nilable {
			q.presence = t.space.Choice(2, 1)
		}
		if len(typ.Enum) > 0 {
			var one []*solve.Formula
			values := typ.Enum
			if typ.HasDefault {
				values = append(slices.Clone(values), typ.Default)
			}
			for _, v := range values {
				if i, ok := v.(int); ok && i <= solve.MaxConstant && i >= -solve.MaxConstant {
					one = append(one, solve.And(solve.AtMost(q.v, solve.Zero, i), solve.AtMost(solve.Zero, q.v, -i)))
				}
			}
			t.always = append(t.always, solve.Or(one...))
		}
		return &q
	})
	s := side{number: true, plus: []solve.Var{made.v}}
	if made.nilable {
		s.present = solve.In(made.presence, 1)
	}
	return s, true
}

// comparison translates a comparison or membership; nil if the model cannot express it.
func (t *translator) comparison(n ast.Node, sc *scope) *outcomes {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	switch b.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
	case "in":
		return t.membership(b, sc)
	default:
		return nil
	}
	left, ok1 := t.sideOf(b.Left, sc)
	right, ok2 := t.sideOf(b.Right, sc)
	if !ok1 || !ok2 {
		return nil
	}
	switch b.Operator {
	case "==", "!=":
		eq := t.equal(left, right)
		if eq == nil {
			return nil
		}
		if b.Operator == "!=" {
			eq = solve.Not(eq)
		}
		return &outcomes{eq, solve.Not(eq), solve.False()}
	case ">", ">=":
		left, right = right, left
	}
	if !left.number || !right.number {
		return nil
	}
	below := 0 // left - right ≤ below
	if b.Operator == "<" || b.Operator == ">" {
		below = -1
	}
	cmp := atMost(left, right, below)
	if cmp == nil {
		return nil
	}
	there := solve.And(left.there(), right.there())
	return &outcomes{solve.And(there, cmp), solve.And(there, solve.Not(cmp)), solve.Not(there)}
}

// there says that a number is not nil.
func (s side) there() *solve.Formula {
	if s.present == nil {
		return solve.True()
	}
	return s.present
}

// atMost says that a - b ≤ c, or nil if that is no difference of two numbers.
func atMost(a, b side, c int) *solve.Formula {
	plus, minus := slices.Concat(a.plus, b.minus), slices.Concat(a.minus, b.plus)
	for i := 0; i < len(plus); i++ {
		if j := slices.Index(minus, plus[i]); j >= 0 {
			plus, minus = slices.Delete(plus, i, i+1), slices.Delete(minus, j, j+1)
			i--
		}
	}
	c += b.c - a.c
	if len(plus) > 1 || len(minus) > 1 || c > solve.MaxConstant || c < -solve.MaxConstant {
		return nil
	}
	x, y := solve.Zero, solve.Zero
	if len(plus) == 1 {
		x = plus[0]
	}
	if len(minus) == 1 {
		y = minus[0]
	}
	return solve.AtMost(x, y, c)
}

// equal says that two sides are equal, or nil if the model cannot.
func (t *translator) equal(a, b side) *solve.Formula {
	if a.constant && !b.constant {
		a, b = b, a
	}
	switch {
	case a.constant && b.constant:
		if a.value == b.value {
			return solve.True()
		}
		return solve.False()
	case a.number && b.number:
		low, high := atMost(a, b, 0), atMost(b, a, 0)
		if low == nil || high == nil {
			return nil
		}
		both := solve.And(a.there(), b.there(), low, high)
		return solve.Or(both, solve.And(solve.Not(a.there()), solve.Not(b.there())))
	case a.number && b.constant:
		if b.value == nil {
			return solve.Not(a.there())
		}
		return nil
	case a.choice != nil && b.constant:
		eq := t.is(a.choice, b.value)
		if a.hasNil {
			isNil := t.is(a.choice, nil)
			eq = solve.And(eq, solve.Not(isNil))
			if a.isNil == b.value {
				eq = solve.Or(eq, isNil)
			}
		}
		return eq
	case a.choice != nil && b.choice != nil && !a.choice.open && !b.choice.open && !a.hasNil && !b.hasNil:
		var same []*solve.Formula
		for _, v := range a.choice.values {
			if slices.Contains(b.choice.values, v) {
				same = append(same, solve.And(t.is(a.choice, v), t.is(b.choice, v)))
			}
		}
		return solve.Or(same...)
	}
	return nil
}

// membership translates x in [a, b, …] and x in a..b.
func (t *translator) membership(b *ast.BinaryNode, sc *scope) *outcomes {
	left, ok := t.sideOf(b.Left, sc)
	if !ok {
		return nil
	}
	var is *solve.Formula
	switch list := b.Right.(type) {
	case *ast.ArrayNode:
		var one []*solve.Formula
		for _, e := range list.Nodes {
			right, ok := t.sideOf(e, sc)
			if !ok || !right.constant {
				return nil
			}
			eq := t.equal(left, right)
			if eq == nil {
				return nil
			}
			one = append(one, eq)
		}
		is = solve.Or(one...)
	case *ast.BinaryNode:
		if list.Operator != ".." {
			return nil
		}
		from, ok1 := t.sideOf(list.Left, sc)
		to, ok2 := t.sideOf(list.Right, sc)
		if !ok1 || !ok2 || !from.constant || !to.constant || !left.number || !from.number || !to.number || left.present != nil {
			return nil
		}
		low, high := atMost(from, left, 0), atMost(left, to, 0)
		if low == nil || high == nil {
			return nil
		}
		is = solve.And(low, high)
	default:
		return nil
	}
	return &outcomes{is, solve.Not(is), solve.False()}
}
