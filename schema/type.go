package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/expr-lang/expr/types"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	maxExpanded = 1_000_000 // parts of a schema, each reference replaced by what it refers to
	maxTypes    = 20_000    // of one schema, and of one type for expr; what is beyond has any type
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
	open, made := map[*Type]bool{}, 0
	var of func(*Type) types.Type
	of = func(t *Type) types.Type {
		if made++; t == nil || open[t] || made > maxTypes {
			return types.Any
		}
		open[t] = true
		defer delete(open, t)
		switch t.Kind {
		case "array":
			return types.Array(of(t.Items))
		case "object":
			m := types.Map{}
			for _, name := range slices.Sorted(maps.Keys(t.Properties)) { // so that it is the same each time
				m[name] = of(t.Properties[name])
			}
			if t.Extra != nil || len(m) == 0 && !t.Closed {
				m[types.Extra] = of(t.Extra)
			}
			return m
		}
		return cmp.Or(t.Go, scalars[t.Kind], types.Type(types.Any))
	}
	return of(t)
}

var scalars = map[string]types.Type{"string": types.String, "integer": types.Int, "number": types.Float64, "boolean": types.Bool}

// At returns the type at a path of field names, or nil. Each name within a list is an entry of it.
func (t *Type) At(path ...string) *Type {
	for i := 0; i < len(path) && t != nil; i++ {
		t = cmp.Or(t.Properties[path[i]], t.Items, t.Extra)
	}
	return t
}

// derived are the types by the places of their schemas: of several, where allOf or $ref apply them to one value.
type derived map[string]*Type

func (all derived) of(schemas ...*jsonschema.Schema) *Type {
	parts := together(nil, schemas)
	key := fmt.Sprint(parts) // their locations
	if t, ok := all[key]; ok || len(parts) == 0 || len(all) > maxTypes {
		return t
	}
	t := &Type{Properties: map[string]*Type{}}
	all[key] = t // before its parts, which may contain it
	fields := map[string][]*jsonschema.Schema{}
	var items, extra []*jsonschema.Schema
	for _, s := range parts {
		t.narrow(s)
		for name, field := range s.Properties {
			fields[name] = append(fields[name], field)
		}
		extra = append(extra, only(s.AdditionalProperties))
		items = append(items, only(s.Items))
		if len(s.PrefixItems) == 0 {
			items = append(items, s.Items2020)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		t.Properties[name] = all.of(fields[name]...)
	}
	t.Items = all.of(items...)
	t.Extra = cmp.Or(t.Extra, all.of(extra...))
	if t.Default != nil { // only now, so that a default within itself has an end
		t.Default, t.HasDefault = t.filled(plain([]any{t.Default})[0]), true
	}
	return t
}

// only returns the schema that is the value of a keyword, which may be something else.
func only(v any) *jsonschema.Schema {
	s, _ := v.(*jsonschema.Schema)
	return s
}

// together adds schemas to parts, with those that apply to each value that they apply to.
func together(parts, schemas []*jsonschema.Schema) []*jsonschema.Schema {
	for _, s := range schemas {
		if s == nil || slices.Contains(parts, s) {
			continue
		}
		parts = together(append(parts, s), append([]*jsonschema.Schema{s.Ref}, s.AllOf...))
		for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
			if some := slices.DeleteFunc(slices.Clone(list), isNull); len(some) == 1 {
				parts = together(parts, some)
			}
		}
	}
	return parts
}

func isNull(s *jsonschema.Schema) bool { return slices.Equal(s.Types, []string{"null"}) }

// narrow takes what a schema says of a value, besides its parts. Its type is the one that it names, or that of its values or parts.
func (t *Type) narrow(s *jsonschema.Schema) {
	values := plain(s.Enum, s.Constant)
	t.nullable = t.nullable || slices.Contains(s.Types, "null") || slices.Contains(values, nil) || slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), isNull)
	values = slices.DeleteFunc(values, func(v any) bool { return v == nil })
	kinds := slices.DeleteFunc(slices.Clone(s.Types), func(kind string) bool { return kind == "null" })
	noText := func(v any) bool { _, ok := v.(string); return !ok }
	switch {
	case len(s.Types) > 0:
	case len(values) > 0 && !slices.ContainsFunc(values, noText):
		kinds = []string{"string"}
	case len(s.Properties) > 0:
		kinds = []string{"object"}
	case s.Items2020 != nil || s.Items != nil:
		kinds = []string{"array"}
	}
	if len(kinds) == 1 && (t.Kind == "" || t.Kind == "number" && kinds[0] == "integer") {
		t.Kind = kinds[0]
	}
	t.Enum, t.Examples = append(t.Enum, values...), append(t.Examples, plain(s.Examples)...)
	if s.Minimum != nil {
		least, _ := s.Minimum.Float64()
		t.Minimum = cmp.Or(t.Minimum, &least)
	}
	if s.Maximum != nil {
		most, _ := s.Maximum.Float64()
		t.Maximum = cmp.Or(t.Maximum, &most)
	}
	t.Default = cmp.Or(t.Default, s.Default)
	t.Closed = t.Closed || s.AdditionalProperties == false
	if len(s.PatternProperties) > 0 {
		t.Extra = &Type{}
	}
}

// plain returns the values of keywords as Go values.
func plain(values ...[]any) []any {
	v, _ := (*Type)(nil).ready(slices.Concat(values...))
	return v.([]any)
}

// sizes counts the parts of schemas, each once. The library has no limit on its steps, and 40 definitions that each refer twice to the
// next make a million million.
type sizes map[*jsonschema.Schema]int

func (m sizes) of(schemas ...*jsonschema.Schema) (n int) {
	for _, s := range schemas {
		if s == nil {
			continue
		}
		if m[s] == 0 {
			m[s] = 1 // within itself
			m[s] += m.of(s.Ref, s.DynamicRef, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.Contains, s.Items2020, s.PropertyNames) +
				m.of(s.UnevaluatedProperties, s.UnevaluatedItems, s.ContentSchema, only(s.AdditionalProperties), only(s.Items), only(s.AdditionalItems)) +
				m.of(slices.Concat(s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, slices.Collect(maps.Values(s.Properties)))...) +
				m.of(slices.Collect(maps.Values(s.PatternProperties))...) + m.of(slices.Collect(maps.Values(s.DependentSchemas))...)
		}
		n = min(n+m[s], maxExpanded+1)
	}
	return n
}
