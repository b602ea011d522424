package schema

import (
	"slices"
)

// maxLocated is how many violations of a list are given a position: each costs a walk through the document. Of large
// documents they are fewer, but at least one.
const (
	maxLocated = 25
	maxWalked  = 16 << 20 // bytes of JSON that are walked through for a list
)

// Result is a document as its schema reads it.
type Result struct {
	// Value is a copy of the document: integral numbers are int, saturated at ±(2^53-1), other numbers float64; text that
	// spells a declared number or bool is that; absent and null fields have their defaults; what is unusable is left out
	// of objects, and nil in lists. Its kinds are those of the schema.
	Value any
	// Unusable lists fields and elements that must not be read: their kind is wrong, or they are absent, required and have
	// no default. The pointer "" means the whole document; Value is nil then. What lies beneath a pointer in the list is
	// unusable too. Sorted by position, then pointer.
	Unusable []Violation
	// Warnings lists values that are of their type and still not as the schema says: enum, pattern, range, length, format
	// and so on; numbers that were saturated; and required fields that are absent, also those that are in Unusable.
	// At most 1000. Sorted by position, then pointer. Only the first 25 of each list have a position, fewer in documents
	// larger than 600 KiB.
	Warnings []Violation
}

// Check reads a document by the schema. It never fails and never panics, whatever the document: what is wrong is in the
// result. It may be called concurrently.
//
// A document, or a value in it, that is deeper than MaxDepth is unusable as a whole, and so is one that is too large for
// its schema. A document that would take too long to judge has a warning that says so.
//
// A schema that Compile did not make, also nil, judges kinds alone.
func (s *Schema) Check(doc Document) Result {
	if s == nil {
		s = &Schema{}
	}
	c := conformer{text: doc.Text}
	if doc.Value == nil && s.HasDefault {
		return Result{Value: c.clone(s.Default)}
	}
	v, ok := c.conform(s, doc.Value)
	var warnings []Violation
	if c.refused == "" && ok {
		warnings = append(c.inexact, c.judge(s.document(), v)...)
		v = c.fill(s, v) // the judge sees the value without defaults
	}
	if c.refused != "" {
		c.unusable = []Violation{{Message: c.refused}}
	}
	if c.refused != "" || !ok {
		return Result{Unusable: doc.locate(c.unusable, c.size)}
	}
	dig(c.holes)
	return Result{Value: v, Unusable: doc.locate(c.unusable, c.size), Warnings: doc.locate(warnings, c.size)}
}

// judge returns what is wrong with the conformed value beyond its kinds, without positions.
func (c *conformer) judge(s *compiled, v any) []Violation {
	var found []Violation
	switch {
	case s.root == nil:
	case s.covered:
		checker := checker{left: maxSteps}
		if checker.check(s.root, v); checker.left >= 0 {
			found = checker.findings
		} else {
			found = uncheckable()
		}
	default:
		found = s.consult(v)
	}
	if len(c.holes) == 0 || len(found) == 0 {
		return found
	}
	// What is unusable was reported as such.
	unusable := make(map[string]bool, len(c.holes))
	for _, h := range c.holes {
		unusable[h.pointer] = true
	}
	return slices.DeleteFunc(found, func(v Violation) bool {
		for at := v.Pointer; ; at = parent(at) {
			if unusable[at] || at == "" {
				return unusable[at]
			}
		}
	})
}

// locate gives violations their values, positions and order; size is about how many bytes the document has.
func (d Document) locate(all []Violation, size int) []Violation {
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
	most := max(min(maxLocated, maxWalked/max(size, 1)), 1)
	for i := range all[:min(len(all), most)] {
		all[i].place(d.Position)
	}
	slices.SortFunc(all, compareViolations)
	return all
}
