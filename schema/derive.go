package schema

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	maxExpanded = 1_000_000 // parts of a schema, each reference replaced by what it refers to
	maxTypes    = 20_000    // of one schema, and of one type for expr; what is beyond has any type
	maxDefaults = 20_000    // values of all defaults together
)

// derive returns the type of a compiled schema.
func derive(s *jsonschema.Schema) (*Type, error) {
	if (sizes{}).of(s) > maxExpanded {
		return nil, &Error{Message: fmt.Sprintf("the schema is too large: its references expand to more than %d parts", maxExpanded)}
	}
	all := derived{}
	t := all.of(s)
	left := maxDefaults
	for _, t := range all {
		t.Default = t.filled(t.Default, &left)
	}
	if left < 0 {
		return nil, &Error{Message: "the defaults of the schema have no end, or are too large: one contains a value with the same default"}
	}
	return t, nil
}

// derived are the types by the places of their schemas: of several, where allOf or $ref apply them to one value.
type derived map[string]*Type

func (all derived) of(schemas ...*jsonschema.Schema) *Type {
	var parts []*jsonschema.Schema
	key := ""
	for _, s := range schemas {
		parts = together(s, parts)
	}
	for _, s := range parts {
		key += s.Location + " "
	}
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
		extra = add(extra, s.AdditionalProperties)
		items = add(items, s.Items)
		if len(s.PrefixItems) == 0 {
			items = add(items, s.Items2020)
		}
	}
	for name, field := range fields {
		t.Properties[name] = all.of(field...)
	}
	t.Items = all.of(items...)
	t.Extra = all.of(extra...)
	if slices.ContainsFunc(parts, func(s *jsonschema.Schema) bool { return len(s.PatternProperties) > 0 }) {
		t.Extra = &Type{}
	}
	return t
}

func add(all []*jsonschema.Schema, x any) []*jsonschema.Schema {
	if s, ok := x.(*jsonschema.Schema); ok && s != nil {
		return append(all, s)
	}
	return all
}

// together adds s to all, with the schemas that apply to each value that s applies to.
func together(s *jsonschema.Schema, all []*jsonschema.Schema) []*jsonschema.Schema {
	if s == nil || slices.Contains(all, s) {
		return all
	}
	all = together(s.Ref, append(all, s))
	for _, sub := range s.AllOf {
		all = together(sub, all)
	}
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if some := slices.DeleteFunc(slices.Clone(list), isNull); len(some) == 1 {
			all = together(some[0], all)
		}
	}
	return all
}

func isNull(s *jsonschema.Schema) bool { return slices.Equal(s.Types, []string{"null"}) }

// narrow takes what a schema says of a value, besides its parts.
func (t *Type) narrow(s *jsonschema.Schema) {
	values := plainValues(s.Enum)
	if s.Constant != nil {
		values = plainValues(s.Constant)
	}
	t.nullable = t.nullable || slices.Contains(s.Types, "null") || slices.Contains(values, nil) || slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), isNull)
	values = slices.DeleteFunc(values, func(v any) bool { return v == nil })
	if kind := kindOf(s, values); t.Kind == "" || t.Kind == "number" && kind == "integer" {
		t.Kind = kind
	}
	if t.Enum == nil {
		t.Enum = values
	}
	if s.Examples != nil {
		t.Examples = plainValues(s.Examples)
	}
	t.Minimum, t.Maximum = cmp.Or(t.Minimum, float(s.Minimum)), cmp.Or(t.Maximum, float(s.Maximum))
	if s.Default != nil && !t.HasDefault {
		t.Default, t.HasDefault = plainValues([]any{s.Default})[0], true
	}
	t.Closed = t.Closed || s.AdditionalProperties == false
}

// plainValues returns the values of a keyword as Go values.
func plainValues(values []any) (out []any) {
	for _, v := range values {
		out = append(out, (&preparation{keepNull: true}).value(nil, v, 0))
	}
	return out
}

func float(r *big.Rat) *float64 {
	if r == nil {
		return nil
	}
	f, _ := r.Float64()
	return &f
}

// kindOf returns the type of what a schema applies to, if it is one: the one that it names, or that of its values or parts.
func kindOf(s *jsonschema.Schema, values []any) string {
	named := slices.DeleteFunc(slices.Clone(s.Types), func(kind string) bool { return kind == "null" })
	noText := func(v any) bool { _, ok := v.(string); return !ok }
	switch {
	case len(named) == 1:
		return named[0]
	case len(s.Types) > 0:
		return ""
	case len(values) > 0 && !slices.ContainsFunc(values, noText):
		return "string"
	case len(s.Properties) > 0:
		return "object"
	case s.Items2020 != nil || s.Items != nil:
		return "array"
	}
	return ""
}

// sizes counts the parts of schemas, each once. The library has no limit on its steps, and 40 definitions that each refer twice to the
// next make a million million.
type sizes map[*jsonschema.Schema]int

func (m sizes) of(s *jsonschema.Schema) int {
	if s == nil {
		return 0
	}
	if n, ok := m[s]; ok {
		return n
	}
	m[s] = 1 // within itself
	parts := []*jsonschema.Schema{s.Ref, s.DynamicRef, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.UnevaluatedItems, s.Items2020, s.Contains, s.ContentSchema}
	parts = slices.Concat(parts, s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, slices.Collect(maps.Values(s.Properties)),
		slices.Collect(maps.Values(s.PatternProperties)), slices.Collect(maps.Values(s.DependentSchemas)))
	for _, x := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		parts = add(parts, x)
	}
	n := 1
	for _, part := range parts {
		n = min(n+m.of(part), maxExpanded+1)
	}
	m[s] = n
	return n
}
