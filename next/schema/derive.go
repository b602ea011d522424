package schema

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxTypes bounds the types that are derived from one schema; what is beyond has any type.
const maxTypes = 20_000

// deriver derives types. A type is that of several schemas where allOf or $ref apply them to one value.
type deriver struct{ types map[string]*Type }

func (d *deriver) typeOf(schemas ...*jsonschema.Schema) *Type {
	var all []*jsonschema.Schema
	for _, s := range schemas {
		all = together(s, all)
	}
	key := fmt.Sprint(all) // their locations
	if t, ok := d.types[key]; ok || len(d.types) > maxTypes || len(all) == 0 {
		return t
	}
	t := &Type{}
	d.types[key] = t // before its parts, which may contain it
	fields := map[string][]*jsonschema.Schema{}
	var items, extra []*jsonschema.Schema
	for _, s := range all {
		t.narrow(s)
		for name, field := range s.Properties {
			fields[name] = append(fields[name], field)
		}
		if sub, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
			extra = append(extra, sub)
		}
		for _, sub := range s.PatternProperties {
			extra = append(extra, sub)
		}
		if sub, ok := s.Items.(*jsonschema.Schema); ok {
			items = append(items, sub)
		}
		if s.Items2020 != nil && len(s.PrefixItems) == 0 {
			items = append(items, s.Items2020)
		}
	}
	t.settle(all, len(fields) > 0, len(items) > 0)
	if t.Items = d.typeOf(items...); len(extra) == 1 {
		t.Extra = d.typeOf(extra...)
	} else if len(extra) > 1 {
		t.Extra = &Type{}
	}
	if len(fields) > 0 {
		t.Properties = make(map[string]*Type, len(fields))
	}
	for name, field := range fields {
		t.Properties[name] = d.typeOf(field...)
	}
	return t
}

// together adds to all the schemas that apply to the same value as s in any case, and s.
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

// narrow takes what one schema says of a value, besides its parts.
func (t *Type) narrow(s *jsonschema.Schema) {
	kinds := slices.DeleteFunc(slices.Clone(s.Types), func(kind string) bool { return kind == "null" })
	if len(kinds) == 1 && (t.Kind == "" || t.Kind == "number" && kinds[0] == "integer") {
		t.Kind = kinds[0]
	}
	values := slices.Concat(s.Enum, s.Constant)
	t.nullable = t.nullable || len(kinds) < len(s.Types) || slices.Contains(values, nil) || slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), isNull)
	if values = numbers(slices.DeleteFunc(values, func(v any) bool { return v == nil })).([]any); t.Enum == nil && len(values) > 0 {
		t.Enum = values
	}
	if t.Examples == nil && len(s.Examples) > 0 {
		t.Examples = numbers(slices.Clone(s.Examples)).([]any)
	}
	t.Minimum = bound(t.Minimum, 1, s.Minimum, s.ExclusiveMinimum)
	t.Maximum = bound(t.Maximum, -1, s.Maximum, s.ExclusiveMaximum)
	if !t.HasDefault && s.Default != nil {
		t.Default, t.HasDefault = numbers(s.Default), true
	}
	t.Closed = t.Closed || s.AdditionalProperties == false
}

// bound returns the narrowest of some bounds: the largest if sign is 1, the smallest if it is -1.
func bound(have *float64, sign float64, more ...*big.Rat) *float64 {
	for _, r := range more {
		if r == nil {
			continue
		}
		if f, _ := r.Float64(); have == nil || sign*f > sign**have {
			have = &f
		}
	}
	return have
}

// settle finds the kind of a value whose type no schema names: that of all values of an enum, or the one of its parts.
func (t *Type) settle(all []*jsonschema.Schema, fields, items bool) {
	if slices.ContainsFunc(all, func(s *jsonschema.Schema) bool { return len(s.Types) > 0 }) {
		return
	}
	switch {
	case len(t.Enum) > 0:
		kind := kindOf(t.Enum[0])
		if !slices.ContainsFunc(t.Enum, func(v any) bool { return kindOf(v) != kind }) {
			t.Kind = kind
		}
	case fields:
		t.Kind = "object"
	case items:
		t.Kind = "array"
	}
}

// kindOf returns JSON Schema's type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case int:
		return "integer"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
