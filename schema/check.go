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
	// string that spells a declared number or bool is that value; missing and null fields have their defaults; unusable
	// values are omitted from objects, and nil in lists. Its kinds are those of the schema.
	Value any
	// Unusable lists fields and elements that must not be read: they have the wrong kind, or they are missing, required
	// and have no default. The pointer "" means the whole document; Value is then nil. Everything below a listed
	// pointer is also unusable. It is sorted by position, then pointer.
	Unusable []Violation
	// Warnings lists values of the right type that violate the schema: enum, pattern, range, length, format and so on;
	// numbers that were saturated; and missing required fields, including those in Unusable. It has at most 1000
	// entries, sorted by position, then pointer. Only the first 10 of each list have a position.
	Warnings []Violation
}

// Check reads a document with the schema. It never fails and never panics, whatever the document: problems are in the
// result. It is safe for concurrent use.
//
// A document, or a value in it, deeper than MaxDepth is unusable as a whole, and so is one that is too large for its
// schema. A document whose validation would take too long has a warning.
//
// A schema that Compile did not make, including nil, checks only kinds.
func (s *Schema) Check(doc Document) Result {
	if s == nil {
		s = &Schema{}
	}
	c := conformer{text: doc.Text}
	var r Result
	refused := within(func() {
		if doc.Value == nil && s.HasDefault {
			r.Value = c.clone(s.Default)
			return
		}
		if v, ok := c.conform(s, doc.Value); ok {
			r.Warnings = append(c.inexact, c.judge(s.document(), v)...)
			r.Value = c.fill(s, v) // judge sees the value without defaults
			for _, h := range c.noDefault {
				delete(h.object, h.field)
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
func (c *conformer) judge(s *compiled, v any) []Violation {
	if s.root == nil {
		return nil
	}
	var checker checker
	if refused := within(func() { checker.check(s.root, v) }); refused != "" {
		return []Violation{{Message: string(refused)}}
	}
	if s.library != nil {
		checker.findings = s.consult(v)
	}
	// Unusable values are already reported.
	unusable := make(map[string]bool, len(c.unusable))
	for _, v := range c.unusable {
		unusable[v.Pointer] = v.Keyword != "required"
	}
	return slices.DeleteFunc(checker.findings, func(v Violation) bool {
		for at := v.Pointer; ; at = parent(at) {
			if unusable[at] || at == "" {
				return unusable[at]
			}
		}
	})
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
