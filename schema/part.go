package schema

import "slices"

// Apart reports whether Check comes to the same whether it reads an object or a list at once, or each field with
// [Schema.Field] and each element with its schema: no keyword of the schema looks at several of them, or counts them.
func (s *Schema) Apart() bool {
	if s == nil {
		return true
	}
	if s.Enum != nil || s.Kinds != nil || s.document().library != nil || s.Kind == Array && s.Elem != nil && s.Elem.HasDefault {
		return false
	}
	n := s.node
	if n == nil || n.always != nil {
		return n == nil || *n.always
	}
	if n.limits != nil || n.dependent != nil || n.patterns != nil || n.implied != nil || n.ref != nil || n.subs != nil || n.has("uniqueItems") {
		return false
	}
	return s.Kind != Any || n.fields == nil && n.extra == nil && n.items == nil && n.required == nil && !n.closed
}

// Field reads one field of an object, without the others: doc is its value, and there says that the object has it. keys
// returns the keys of the object, and is called for a field that is missing. The pointers of violations begin at the
// field. has is false if the object has no such field afterwards: it is missing without a default, or unusable.
func (s *Schema) Field(name string, doc Document, there bool, keys func() []string) (r Result, has bool) {
	field := s.At(name)
	if there && (doc.Value != nil || !field.absent()) {
		r = field.Check(doc)
		return r, !slices.ContainsFunc(r.Unusable, func(v Violation) bool { return v.Pointer == "" })
	}
	if s == nil {
		return r, false
	}
	if s.node != nil && slices.Contains(s.node.required, name) {
		r.Warnings = append(r.Warnings, Violation{Message: "is required but missing", Keyword: "required"})
	}
	if declared := s.Fields[name]; declared != nil {
		var c conformer
		object := map[string]any{}
		var foreign []string
		for _, key := range keys() {
			if object[key] = true; s.Fields[key] == nil {
				foreign = append(foreign, key)
			}
		}
		delete(object, name)
		c.compare(s, object, foreign)
		for _, slip := range c.slips {
			if slip.Pointer == child("", name) {
				slip.Pointer = ""
				r.Warnings = append(r.Warnings, slip)
			}
		}
		if declared.HasDefault {
			return Result{Value: c.clone(declared.Default), Warnings: r.Warnings}, true
		}
	}
	return r, false
}

// Surplus returns the violation of an object that has a field which its schema excludes, nil if it may have it.
func (s *Schema) Surplus(name string) []Violation {
	if s == nil || s.node == nil || !s.node.closed || s.node.fields[name] != nil {
		return nil
	}
	var c checker
	c.surplus(s.node, name)
	c.findings[0].Pointer = ""
	return c.findings
}
