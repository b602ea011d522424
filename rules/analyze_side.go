package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/solve"
	"github.com/ralph-sdk/ralph/schema"
)

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

// count is the type of a name that counts something, nil for any other.
func (s *symbol) count() *schema.Schema {
	if s.kind != nameSymbol || !s.info.Memory || s.info.zero != any(0) {
		return nil
	}
	return &schema.Schema{Kind: schema.Int, Min: new(float64)}
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
		if t.fixed || strings.Contains(s.key, "/") { // no include is given other values
			return constantSide(s.value)
		}
		return t.typed("param "+s.key, s.typ, quantity{kind: paramValue, name: s.name}, s.value)
	case nameSymbol:
		switch {
		case s.count() != nil:
			return t.typed("name "+s.key, s.count(), quantity{kind: nameValue, name: s.name}, 0)
		case s.typ != nil && s.name != vocab.HookRaw:
			return t.typed("name "+s.key, s.typ, quantity{kind: nameValue, name: s.name}, s.info.zero)
		}
	case memorySymbol:
		// An old value that the schema does not allow any more counts as the default.
		return t.typed("memory "+s.key, s.typ, quantity{kind: memoryOf, name: s.name}, s.value)
	case factSymbol:
		if s.fact.Source.File && s.typ != nil && s.typ.Kind == schema.String {
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
func canBeNil(t *schema.Schema) bool { return !t.HasDefault && (t.Optional || t.Nullable) }

// maxEnum bounds the values of an enum that the model follows one by one.
const maxEnum = 256

// typed makes a side of a quantity of a schema type, if the model can express it.
func (t *translator) typed(key string, typ *schema.Schema, q quantity, prefer any) (side, bool) {
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

func (t *translator) numeric(key string, typ *schema.Schema, q quantity, prefer any) (side, bool) {
	made := t.define(key, func() *quantity {
		q.min, q.max = -solve.MaxConstant-1, solve.MaxConstant+1
		if q.kind == fieldValue { // a file may hold what is out of bounds, and it is kept
			typ = &schema.Schema{Kind: typ.Kind, Enum: typ.Enum, Default: typ.Default, HasDefault: typ.HasDefault}
		}
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
