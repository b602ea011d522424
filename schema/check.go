package schema

import (
	"fmt"
	"slices"
)

// maxLocated is how many violations of a list are given a position: each costs a walk through the document.
const maxLocated = 25

// Result is a document as its schema reads it.
type Result struct {
	// Value is a copy of the document: integral numbers are int, saturated at ±(2^53-1), other numbers float64; text that
	// spells a declared number or bool is that; absent and null fields have their defaults; what is unusable is left out
	// of objects, and nil in lists. Its kinds are those of the schema's Type.
	Value any
	// Unusable lists fields and elements that must not be read: their kind is wrong, or they are absent, required and have
	// no default. The pointer "" means the whole document; Value is nil then. What lies beneath a pointer in the list is
	// unusable too. Sorted by position, then pointer.
	Unusable []Violation
	// Warnings lists values that are of their type and still not as the schema says: enum, pattern, range, length, format
	// and so on; numbers that were saturated; and required fields that are absent, also those that are in Unusable.
	// At most 1000. Sorted by position, then pointer. Only the first 25 of each list have a position.
	Warnings []Violation
}

// Check reads a document by the schema. It never fails and never panics, whatever the document: what is wrong is in the
// result. It may be called concurrently.
//
// A document, or a value in it, that is deeper than MaxDepth is unusable as a whole.
func (s *Schema) Check(doc Document) Result {
	if doc.Value == nil && s.typ.HasDefault {
		return Result{Value: clone(s.typ.Default)}
	}
	c := conformer{text: doc.Text}
	v, ok := c.conform(s.typ, doc.Value)
	if c.tooDeep {
		return Result{Unusable: doc.locate([]Violation{{Message: fmt.Sprintf("is nested deeper than %d levels", MaxDepth)}})}
	}
	if !ok {
		return Result{Unusable: doc.locate(c.unusable)}
	}
	warnings := append(c.inexact, c.judge(s, v)...)
	v = fill(s.typ, v)
	dig(c.holes)
	return Result{Value: v, Unusable: doc.locate(c.unusable), Warnings: doc.locate(warnings)}
}

// Complete returns a copy of v as Check makes it, for values that need no judgement, such as those that a policy states:
// numbers normalised, defaults filled in, what is unusable left out. nil becomes the schema's default, and nil if it has
// none; v itself is not changed.
func (s *Schema) Complete(v any) any {
	if v == nil && s.typ.HasDefault {
		return clone(s.typ.Default)
	}
	c := conformer{}
	v, ok := c.conform(s.typ, v)
	if !ok {
		return nil
	}
	v = fill(s.typ, v)
	dig(c.holes)
	return v
}

// judge returns what is wrong with the conformed value beyond its kinds, without positions.
func (c *conformer) judge(s *Schema, v any) []Violation {
	var found []Violation
	if s.covered {
		checker := checker{}
		checker.check(s.root, v)
		found = checker.findings
	} else {
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

// locate gives violations their positions, and their order.
func (d Document) locate(all []Violation) []Violation {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, compareViolations)
	all = slices.Compact(all)
	all = all[:min(len(all), maxWarnings)]
	if d.Position == nil {
		return all
	}
	for i := range all[:min(len(all), maxLocated)] {
		// What is absent is not there: its place is that of what should hold it.
		for at := all[i].Pointer; ; at = parent(at) {
			if all[i].Line, all[i].Col = d.Position(at); all[i].Line > 0 || at == "" {
				break
			}
		}
	}
	slices.SortFunc(all, compareViolations)
	return all
}
