package schema

import (
	"maps"
	"slices"

	"github.com/expr-lang/expr/types"
)

// Type is what the policy language takes from a JSON Schema. A nil Type is any value.
type Type struct {
	Kind       string // JSON Schema's type if it is one, null left out: "object", "array", "string", "integer", "number", "boolean"; else ""
	Properties map[string]*Type
	Extra      *Type // of the fields that Properties does not name, if the schema declares them
	Items      *Type
	Enum       []any // without null
	Examples   []any // known values, where others are possible
	Minimum    *float64
	Maximum    *float64
	Default    any // as Go value, with the defaults within it; only if HasDefault
	HasDefault bool
	Closed     bool       // additionalProperties: false
	Go         types.Type // if not nil, the type of a Go value; what stands above is then empty

	nullable bool // the schema names null, so that it must not go before the validation
}

// Expr returns the type for expr's checker. A declared optional field has its declared type. A field that an object with declared
// fields does not declare is an error of the checker, unless the schema gives a type for all others. Where a type contains itself, or is
// too large, the inner one is any.
func (t *Type) Expr() types.Type {
	left := maxTypes
	return t.expr(map[*Type]bool{}, &left)
}

func (t *Type) expr(open map[*Type]bool, left *int) types.Type {
	if *left--; t == nil || open[t] || *left < 0 {
		return types.Any
	}
	if t.Go != nil {
		return t.Go
	}
	open[t] = true
	defer delete(open, t)
	switch t.Kind {
	case "string":
		return types.String
	case "integer":
		return types.Int
	case "number":
		return types.Float64
	case "boolean":
		return types.Bool
	case "array":
		return types.Array(t.Items.expr(open, left))
	case "object":
		m := types.Map{}
		for _, name := range slices.Sorted(maps.Keys(t.Properties)) { // so that it is the same each time
			m[name] = t.Properties[name].expr(open, left)
		}
		if t.Extra != nil || len(m) == 0 && !t.Closed {
			m[types.Extra] = t.Extra.expr(open, left)
		}
		return m
	}
	return types.Any
}

// At returns the type at a path of field names, or nil. Each name within a list is an entry of it.
func (t *Type) At(path ...string) *Type {
	for _, name := range path {
		t = t.field(name)
	}
	return t
}

func (t *Type) field(name string) *Type {
	switch {
	case t == nil:
		return nil
	case t.Properties[name] != nil:
		return t.Properties[name]
	case t.Items != nil:
		return t.Items
	}
	return t.Extra
}
