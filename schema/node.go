package schema

import (
	"regexp"
	"slices"
)

// node is one schema within a schema document: its keywords, and the nodes that they hold or refer to.
type node struct {
	at       string         // its JSON pointer
	always   *bool          // what a boolean schema says to every value; nil for all others
	keywords map[string]any // as written, numbers as int or float64
	covered  bool           // the own checker knows all keywords of this node (it says nothing about its children)
	refOnly  bool           // everything beside $ref is to be ignored, as before draft 2019-09

	kinds    kindSet               // type
	values   []any                 // enum, const
	limits   []limit               // minimum, maxLength, …
	pattern  func() *regexp.Regexp // pattern, compiled when a text is first held against it
	format   *format               // format, if it is one of ralph's own
	required []string              // required
	fields   map[string]*node      // properties
	extra    *node                 // additionalProperties, if it is a schema
	closed   bool                  // additionalProperties is false
	known    []string              // the names of fields, sorted, if it is closed
	items    *node                 // items, if it holds for each element
	ref      *node                 // $ref
	allOf    []*node               // what must hold too

	// What the library alone looks at.
	branches []*node // other schemas of the same value: anyOf, oneOf, not, if, then, else, dependentSchemas
	parts    []*node // other schemas of its fields, their names or its elements: contains, patternProperties, prefixItems, …

	load, scan int // steps that the keywords take for a value, and for each scanBytes of a text or of names of fields
}

// inPlace lists the nodes that judge the same value as n, not a part of it.
func (n *node) inPlace() []*node {
	all := slices.Concat(n.allOf, n.branches)
	if n.ref != nil {
		all = append(all, n.ref)
	}
	return all
}

// has says whether the keyword stands in the node and counts.
func (n *node) has(keyword string) bool {
	_, ok := n.keywords[keyword]
	return ok && (!n.refOnly || keyword == "$ref")
}

// text is an annotation such as description, or "".
func (n *node) text(keyword string) string {
	s, _ := n.keywords[keyword].(string)
	return s
}

// limit is a keyword that bounds a value by a number.
type limit struct {
	keyword string
	bound   float64
}

// kindSet is a set of kinds; the empty set is no restriction.
type kindSet uint16

func (s *kindSet) add(k Kind)     { *s |= 1 << k }
func (s kindSet) has(k Kind) bool { return s&(1<<k) != 0 }

// admits says whether a value of kind k, which is not Any, satisfies the set.
func (s kindSet) admits(k Kind) bool {
	return s == 0 || s.has(k) || (k == Int && s.has(Number))
}

// list returns the kinds in their order; int is left out where number stands.
func (s kindSet) list() []Kind {
	var kinds []Kind
	for k := Null; k <= Object; k++ {
		if s.has(k) && !(k == Int && s.has(Number)) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// kindNamed returns the kind that JSON Schema calls by this name; Any if there is none.
func kindNamed(name string) Kind { return Kind(max(slices.Index(schemaKinds[:], name), 0)) }
