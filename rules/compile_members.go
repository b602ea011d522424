package rules

import (
	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/schema"
)

// checkUse reports a member of a string, number or boolean that may be missing.
func (r *resolver) checkUse(m *ast.MemberNode) {
	base := m.Node
	if b, ok := base.(*ast.BinaryNode); ok && b.Operator == "??" {
		base = b.Left
	}
	prop, ok := m.Property.(*ast.StringNode)
	t := r.c.types[base]
	if !ok || t == nil || !maybeNil(t) || kindWord(t.Kind) == "" {
		return
	}
	l := prop.Location()
	_, _, message, help := r.c.usual.find(r.src, l.From, max(l.To, l.From+1), "values have no methods", "the functions and operators of expressions take the value: len(…), … contains …")
	r.warnf(prop, "mixed-types", help, "the field is %s, so this cannot be evaluated: %s", kindWord(t.Kind), message)
}

// checkUnlisted reports an undeclared field of an object that allows others, if a declared field has a similar name.
func (r *resolver) checkUnlisted(field *ast.StringNode, of *schema.Schema) {
	if r.c.lazy || of == nil || len(of.Fields) == 0 || of.Fields[field.Value] != nil {
		return
	}
	names := fieldNames(of)
	if meant := meantField(field.Value, names); meant != "" {
		r.warnf(field, "optional-field", meant, "%s may be missing; the required fields are %s", quote(field.Value), list(names))
	}
}

// checkCondition reports a field that may be missing and is not a condition. expr's checker reports other fields.
func (r *resolver) checkCondition(n ast.Node) {
	t := r.c.types[n]
	if r.c.lazy || t == nil || !maybeNil(t) {
		return
	}
	if is := kindWord(t.Kind); is != "" && t.Kind != schema.Bool {
		from, to, _ := r.to.text(n)
		r.to.warn(from, to, "mixed-types", "compare it with "+is, "the field is "+is+", and a condition is true or false, so this cannot be evaluated")
	}
}

// checkKinds reports a field that may be missing, compared with a value of a type that it never has. expr's checker
// reports other fields.
func (r *resolver) checkKinds(b *ast.BinaryNode) {
	if r.c.lazy {
		return
	}
	for _, sides := range [...][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
		field := sides[0]
		or, standIn := field.(*ast.BinaryNode)
		if standIn = standIn && or.Operator == "??"; standIn {
			field = or.Left
		}
		t := r.c.types[field]
		if t == nil || !maybeNil(t) || standIn && literalKind(or.Right) != kindWord(t.Kind) {
			continue
		}
		is := kindWord(t.Kind)
		other := literalKind(sides[1])
		if is == "" || other == "" || is == other {
			continue
		}
		what := "so this cannot be evaluated"
		switch b.Operator {
		case "==":
			what = "so this is never true"
		case "!=":
			what = "so this is always true"
		}
		r.warnf(sides[1], "mixed-types", "compare it with "+is, "the field is %s, never %s, %s", is, other, what)
	}
}

func kindWord(k schema.Kind) string {
	switch k {
	case schema.String:
		return "a string"
	case schema.Int, schema.Number:
		return "a number"
	case schema.Bool:
		return "true or false"
	}
	return ""
}

func literalKind(n ast.Node) string {
	switch t := n.(type) {
	case *ast.StringNode:
		return "a string"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.CallNode:
		if callee(t.Callee) == "duration" {
			return "a duration"
		}
	case *ast.BuiltinNode:
		if t.Name == "duration" {
			return "a duration"
		}
	}
	return ""
}
