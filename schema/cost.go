package schema

import "fmt"

// maxSteps is how many steps checking one document may take, of some hundred nanoseconds each. Schema and document
// multiply: a thousand alternatives for each of fifty thousand values take minutes.
const maxSteps = 6_000_000

// uncheckable is the violation of a document that would take more.
func uncheckable() []Violation {
	return []Violation{{Message: fmt.Sprintf("cannot be checked: it is too large for this schema, checking it takes more than %d steps", maxSteps)}}
}

// Prices in steps. The library keeps lists of the fields and elements of each value, makes fractions of big integers of
// numbers, and builds a text for each error.
const (
	visitSteps  = 24 // a value that a schema judges, and an error there
	memberSteps = 3  // a field or element of it
	numberSteps = 20 // a number that is compared
	keptBytes   = 16 // of a text that are written in a step
	copiedBytes = 512
	scanBytes   = 8 // of a text that an instruction of a pattern reads in a step
)

// weightOf returns how many steps it takes to compare v with its like.
func weightOf(v any) int {
	weight := 1
	switch v := v.(type) {
	case int, float64:
		weight = numberSteps
	case string:
		weight += len(v) / keptBytes
	case []any:
		for _, item := range v {
			weight += weightOf(item)
		}
	case map[string]any:
		for key, item := range v {
			weight += weightOf(key) + weightOf(item)
		}
	}
	return weight
}

// price returns how many steps it takes to judge v by the keywords of the node itself.
func (n *node) price(v any) int {
	bytes := 0
	switch v := v.(type) {
	case string:
		bytes = len(v)
	case map[string]any:
		for key := range v {
			bytes += len(key) + scanBytes
		}
	}
	return 1 + n.load + n.scan*bytes/scanBytes
}

// meter counts the steps that the library takes to check a value. Where the library looks at one of several schemas it
// counts them all, and it stops when no steps are left.
type meter struct{ left int }

// affordable reports whether the library can check v in time.
func (s *compiled) affordable(v any) bool {
	m := meter{left: maxSteps}
	m.visit(s.root, v, 0, 0)
	return m.left >= 0
}

// visit counts what it takes to judge v by n, which is the depth-th of schemas inside one another. An error there repeats
// the path to it, of some bytes.
func (m *meter) visit(n *node, v any, depth, path int) {
	if m.left < 0 {
		return
	}
	const step = 24 // bytes of a keyword, and of an index
	depth, path = depth+1, path+step
	m.left -= visitSteps + n.price(v) + (path+len(n.at))/keptBytes + depth*path/copiedBytes
	if n.always != nil || !n.kinds.admits(kindOf(v)) {
		return // nothing else is looked at
	}
	for _, sub := range n.inPlace() {
		m.visit(sub, v, depth, path)
	}
	switch v := v.(type) {
	case []any:
		m.left -= memberSteps * len(v)
		if n.has("uniqueItems") {
			m.unique(v)
		}
		for _, item := range v {
			m.part(n, n.items, item, depth, path)
		}
	case map[string]any:
		m.left -= memberSteps * len(v)
		for key, item := range v {
			sub := n.fields[key]
			if sub == nil {
				sub = n.extra
			}
			m.part(n, sub, item, depth, path+2*len(key))
			for _, names := range n.parts {
				m.visit(names, key, depth, path)
			}
			if m.left < 0 {
				return
			}
		}
	}
}

// part counts a field or an element, which sub judges if it is not nil, and all other schemas that n has for parts.
func (m *meter) part(n, sub *node, v any, depth, path int) {
	if m.left < 0 {
		return
	}
	if sub != nil {
		m.visit(sub, v, depth, path)
	}
	for _, sub := range n.parts {
		m.visit(sub, v, depth, path)
	}
}

// unique counts uniqueItems. The library compares the elements of short lists, and those of one hash, with each other. Lists
// and objects are easily made to hash alike: ["a\u0003b"] is ["a", "b"].
func (m *meter) unique(list []any) {
	const short = 20
	containers, weight := 0, 0
	for _, item := range list {
		w := weightOf(item)
		m.left -= w * min(len(list), short)
		if k := kindOf(item); k == Array || k == Object {
			containers++
			weight += w
		}
	}
	m.left -= containers * weight
}
