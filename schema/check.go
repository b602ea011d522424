package schema

import (
	"slices"
)

const (
	maxWarnings = 1000 // of one Check
	maxLocated  = 10   // violations in a list that get a position: each costs a pass over the document
)

// Result is a document as read with its schema.
type Result struct {
	// Value is a copy of the document: integral numbers are int, saturated at ±(2^53-1), other numbers float64; a
	// declared number or bool written as a string is that value; missing and null fields have their defaults; unusable
	// values are omitted from objects, and nil in lists. Its kinds are those of the schema.
	Value any
	// Unusable lists fields and elements that must not be read: they have the wrong type, are outside their minimum or
	// maximum, or break their format. The pointer "" means the whole document; Value is then nil. Everything below a
	// listed pointer is also unusable. It is sorted by position, then pointer.
	Unusable []Violation
	// Warnings lists what else violates the schema: enum, pattern, length and so on; missing required fields; numbers
	// that were saturated; keys that are repeated, and those that look like a declared field that is missing. It has at
	// most 1000 entries, sorted by position, then pointer. Only the first 10 of each list have a position.
	Warnings []Violation
}

// Unfit returns why not to use the document as a whole: something in it is unusable, or a required field is missing. It
// is nil if there is no such reason.
func (r Result) Unfit() *Violation {
	for i := range r.Unusable {
		return &r.Unusable[i]
	}
	for i := range r.Warnings {
		if r.Warnings[i].Keyword == "required" {
			return &r.Warnings[i]
		}
	}
	return nil
}

// Check reads a document with the schema. It never fails and never panics, whatever the document: problems are in the
// result. It is safe for concurrent use.
//
// A document, or a value in it, deeper than MaxDepth is unusable as a whole, and so is one that is too large for its
// schema. A document whose validation would take too long has a warning.
//
// A schema that Compile did not make, including nil, checks only kinds. One of a field or an element checks its part.
func (s *Schema) Check(doc Document) Result {
	if s == nil {
		s = &Schema{}
	}
	c := conformer{text: doc.Text, typed: doc.Typed}
	var r Result
	refused := within(func() {
		if doc.Value == nil && s.HasDefault {
			r.Value = c.clone(s.Default)
			return
		}
		if v, ok := c.conform(s, doc.Value); ok {
			r.Warnings = slices.Concat(c.inexact, c.slips, doc.repeated())
			found := c.judge(s, v)
			r.Value = c.fill(s, v) // judge sees the value without defaults
			for _, h := range c.noDefault {
				delete(h.object, h.field)
			}
			for _, f := range found {
				if f.harms() {
					c.unusable, r.Value = append(c.unusable, f), without(r.Value, SplitPointer(f.Pointer))
				} else {
					r.Warnings = append(r.Warnings, f)
				}
			}
		}
	})
	if refused != "" {
		c.unusable = []Violation{{Message: string(refused)}}
		r = Result{}
	}
	r.Unusable, r.Warnings = doc.locate(c.unusable), doc.locate(r.Warnings)
	return r
}

// judge returns the violations of the conformed value except those of kinds, without positions.
func (c *conformer) judge(s *Schema, v any) []Violation {
	if s.node == nil {
		return nil
	}
	var checker checker
	if refused := within(func() { checker.check(s.node, v) }); refused != "" {
		return []Violation{{Message: string(refused)}}
	}
	if whole := s.document(); whole.library != nil {
		checker.findings = whole.consult(v)
	}
	// Unusable values are already reported.
	unusable := make(map[string]bool, len(c.unusable))
	for _, v := range c.unusable {
		unusable[v.Pointer] = true
	}
	return slices.DeleteFunc(checker.findings, func(v Violation) bool {
		for at := v.Pointer; ; at = parent(at) {
			if unusable[at] || at == "" {
				return unusable[at]
			}
		}
	})
}

// without omits the value at a path from v, in place: a field is deleted, an element becomes nil.
func without(v any, path []string) any {
	if len(path) == 0 {
		return nil
	}
	switch container := v.(type) {
	case map[string]any:
		if item, ok := container[path[0]]; ok && len(path) > 1 {
			without(item, path[1:])
		} else {
			delete(container, path[0])
		}
	case []any:
		if i := elementIndex(path[0]); i >= 0 && i < len(container) {
			container[i] = without(container[i], path[1:])
		}
	}
	return v
}

// locate sets values, positions and order of violations.
func (d Document) locate(all []Violation) []Violation {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, compareViolations)
	all = slices.CompactFunc(all, func(a, b Violation) bool { return a.Pointer == b.Pointer && a.Message == b.Message })
	all = all[:min(len(all), maxWarnings)]
	for i := range all {
		if path := SplitPointer(all[i].Pointer); len(path) > 0 {
			all[i].Value, _ = valueAt(d.Value, path)
		}
	}
	if d.Position == nil {
		return all
	}
	for i := range all[:min(len(all), maxLocated)] {
		all[i].place(d.Position)
	}
	slices.SortFunc(all, compareViolations)
	return all
}
