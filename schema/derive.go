package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	maxTypes    = 20_000 // of one schema; what is beyond has any type
	maxDefaults = 20_000 // values of all defaults together
)

// derive returns the type of a compiled schema, whose text is doc.
func derive(s *jsonschema.Schema, doc any) (*Type, *Error) {
	d := deriver{doc: doc, types: map[string]*Type{}}
	t := d.typeOf(s)
	c := completion{left: maxDefaults}
	for _, t := range d.types {
		t.Default, _ = c.value(t, t.Default)
	}
	if c.left < 0 {
		return nil, &Error{Message: "the defaults of the schema have no end, or are too large: one contains a value with the same default"}
	}
	return t, nil
}

// deriver derives types. A type is that of several schemas where allOf or $ref apply them to one value.
type deriver struct {
	doc   any // the text of the schema
	types map[string]*Type
}

func (d *deriver) typeOf(schemas ...*jsonschema.Schema) *Type {
	var all []*jsonschema.Schema
	for _, s := range schemas {
		all = together(s, all)
	}
	key := ""
	for _, s := range all {
		key += s.Location + " "
	}
	if t, ok := d.types[key]; ok || len(all) == 0 || len(d.types) > maxTypes {
		return t
	}
	t := &Type{Properties: map[string]*Type{}}
	d.types[key] = t // before its parts, which may contain it
	fields := map[string][]*jsonschema.Schema{}
	var items, extra []*jsonschema.Schema
	for _, s := range all {
		keywords, _ := valueAt(d.doc, place(s.Location)).(map[string]any)
		t.narrow(s, keywords)
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
		t.Properties[name] = d.typeOf(field...)
		if t.Properties[name].hasDefault() {
			t.defaults = append(t.defaults, name)
		}
	}
	t.Items = d.typeOf(items...)
	t.Extra = d.typeOf(extra...)
	if slices.ContainsFunc(all, func(s *jsonschema.Schema) bool { return len(s.PatternProperties) > 0 }) {
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

// narrow takes what a schema says of a value, besides its parts. keywords is the text of the schema.
func (t *Type) narrow(s *jsonschema.Schema, keywords map[string]any) {
	values, _ := keywords["enum"].([]any)
	if constant, ok := keywords["const"]; ok {
		values = []any{constant}
	}
	t.nullable = t.nullable || slices.Contains(s.Types, "null") || slices.Contains(values, nil) || slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), isNull)
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	if kind := kindOf(s, values); t.Kind == "" || t.Kind == "number" && kind == "integer" {
		t.Kind = kind
	}
	if t.Enum == nil {
		t.Enum = values
	}
	if examples, ok := keywords["examples"].([]any); ok {
		t.Examples = examples
	}
	t.Minimum = cmp.Or(t.Minimum, float(keywords["minimum"]))
	t.Maximum = cmp.Or(t.Maximum, float(keywords["maximum"]))
	if v := keywords["default"]; v != nil && !t.HasDefault {
		t.Default, t.HasDefault = v, true
	}
	t.Closed = t.Closed || s.AdditionalProperties == false
}

func float(v any) *float64 {
	f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil {
		return nil
	}
	return &f
}

// kindOf returns the type of what a schema applies to, if it is one: the one that it names, or that of its values or parts.
func kindOf(s *jsonschema.Schema, values []any) string {
	named := slices.DeleteFunc(slices.Clone(s.Types), func(kind string) bool { return kind == "null" })
	noText := func(v any) bool { return reflect.TypeOf(v).Kind() != reflect.String }
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
