package schema

import (
	"maps"
	"regexp"
	"slices"
)

// node is one schema within a schema document: its keywords, and the nodes in them.
type node struct {
	at       string         // JSON pointer
	always   *bool          // the value of a boolean schema; nil for others
	keywords map[string]any // as written, numbers as int or float64
	refOnly  bool           // ignore everything next to $ref, as before draft 2019-09
	load     int            // steps of its limits for a value

	kinds          kindSet // type
	constant, enum []any
	limits         []limit // minimum, maxLength, …
	pattern        *pattern
	format         *format
	required       []string
	dependent      map[string][]string // dependentRequired, and the lists of dependencies
	fields         map[string]*node    // properties
	patterns       []*pattern          // patternProperties
	implied        map[string]*node    // dependentSchemas, and the schemas of dependencies
	extra          *node               // additionalProperties, if it is a schema
	closed         bool                // additionalProperties is false
	known          []string            // the names of fields, sorted, if it is closed
	items          *node               // for elements after those of prefixItems
	ref            *node               // $ref
	subs           map[string][]*node  // the schemas of all other keywords

	containsLeast, containsMost int // minContains, maxContains
}

// pattern is a regular expression, compiled when first used.
type pattern struct {
	compiled func() *regexp.Regexp
	size     int   // in instructions
	node     *node // of patternProperties
}

// hold stores the schemas of a keyword that has no field.
func (n *node) hold(keyword string, subs ...*node) {
	if n.subs == nil {
		n.subs = make(map[string][]*node)
	}
	n.subs[keyword] = subs
}

// requires stores the names that an object with a field must have.
func (n *node) requires(field string, names []string) {
	if n.dependent == nil {
		n.dependent = make(map[string][]string)
	}
	n.dependent[field] = append(n.dependent[field], names...)
}

// branches returns the nodes for the same value as n that need not hold.
func (n *node) branches() []*node {
	return slices.AppendSeq(slices.Concat(n.subs["anyOf"], n.subs["oneOf"], n.subs["not"], n.subs["if"], n.subs["then"], n.subs["else"]),
		maps.Values(n.implied))
}

// inPlace returns the nodes for the same value as n, not a part of it.
func (n *node) inPlace() []*node {
	all := append(n.branches(), n.subs["allOf"]...)
	if n.ref != nil {
		all = append(all, n.ref)
	}
	return all
}

// has reports whether the node has the keyword and it counts.
func (n *node) has(keyword string) bool {
	_, ok := n.keywords[keyword]
	return ok && (!n.refOnly || keyword == "$ref")
}

// text returns an annotation such as description, or "".
func (n *node) text(keyword string) string {
	s, _ := n.keywords[keyword].(string)
	return s
}

// limit is a keyword that bounds a value by a number.
type limit struct {
	keyword
	bound   float64
	written any
}

// kindSet is a set of kinds; the empty set allows all.
type kindSet uint16

func (s *kindSet) add(k Kind)     { *s |= 1 << k }
func (s kindSet) has(k Kind) bool { return s&(1<<k) != 0 }

// admits reports whether the set allows kind k, which is not Any.
func (s kindSet) admits(k Kind) bool {
	return s == 0 || s.has(k) || (k == Int && s.has(Number))
}

// list returns the kinds in order, without int if number is in the set.
func (s kindSet) list() []Kind {
	var kinds []Kind
	for k := Null; k <= Object; k++ {
		if s.has(k) && !(k == Int && s.has(Number)) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// kindNamed returns the kind with this name in JSON Schema, or Any.
func kindNamed(name string) Kind { return Kind(max(slices.Index(kindWords[:], name), 0)) }
