package schema

import (
	"maps"
	"regexp"
	"slices"
)

// node is one schema within a schema document: its keywords, and the nodes that they hold or refer to.
type node struct {
	at       string         // its JSON pointer
	always   *bool          // what a boolean schema says to every value; nil for all others
	keywords map[string]any // as written, numbers as int or float64
	refOnly  bool           // everything beside $ref is to be ignored, as before draft 2019-09
	load     int            // steps that its limits take for a value

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
	items          *node               // for the elements behind those of prefixItems
	ref            *node               // $ref
	subs           map[string][]*node  // the schemas of all other keywords

	containsLeast, containsMost int // minContains, maxContains
}

// pattern is a regular expression, which is compiled when a text is first compared with it.
type pattern struct {
	compiled func() *regexp.Regexp
	size     int   // in instructions
	node     *node // of patternProperties
}

// hold keeps the schemas of a keyword that has no field of its own.
func (n *node) hold(keyword string, subs ...*node) {
	if n.subs == nil {
		n.subs = make(map[string][]*node)
	}
	n.subs[keyword] = subs
}

// requires keeps the names that an object with a field must have.
func (n *node) requires(field string, names []string) {
	if n.dependent == nil {
		n.dependent = make(map[string][]string)
	}
	n.dependent[field] = append(n.dependent[field], names...)
}

// branches are the nodes that judge the same value as n without having to hold.
func (n *node) branches() []*node {
	return slices.AppendSeq(slices.Concat(n.subs["anyOf"], n.subs["oneOf"], n.subs["not"], n.subs["if"], n.subs["then"], n.subs["else"]),
		maps.Values(n.implied))
}

// inPlace lists the nodes that judge the same value as n, not a part of it.
func (n *node) inPlace() []*node {
	all := append(n.branches(), n.subs["allOf"]...)
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
	keyword
	bound   float64
	written any
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
func kindNamed(name string) Kind { return Kind(max(slices.Index(kindWords[:], name), 0)) }
