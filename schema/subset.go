package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checker judges normalised values by the keywords that nearly all schemas make do with. It finds exactly what the library
// finds, and in words of its own; which schemas it covers is decided when they are compiled.
type checker struct {
	left     int // steps that it may still take
	path     []string
	findings []Violation // without positions
}

// covers says whether the checker knows every keyword that can be reached from n.
func covers(n *node, seen map[*node]bool) bool {
	if n == nil || seen[n] {
		return true
	}
	seen[n] = true
	if n.always == nil && !n.covered {
		return false
	}
	reached := append([]*node{n.ref, n.extra, n.items}, n.allOf...)
	reached = slices.AppendSeq(reached, maps.Values(n.fields))
	return !slices.ContainsFunc(reached, func(sub *node) bool { return !covers(sub, seen) })
}

func (c *checker) find(n *node, keyword string, v any) {
	if len(c.findings) > maxWarnings {
		return
	}
	c.findings = append(c.findings, n.findings(keyword, PointerOf(c.path), v)...)
}

func (c *checker) check(n *node, v any) {
	if c.left -= n.price(v); c.left < 0 {
		return
	}
	if n.always != nil {
		if !*n.always {
			c.find(n, "", v)
		}
		return
	}
	kind := kindOf(v)
	if !n.kinds.admits(kind) {
		c.find(n, "type", v)
		return // what else is wrong with it is of no interest
	}
	// Both at once: enum and const may stand side by side.
	for _, keyword := range [...]string{"const", "enum"} {
		if n.has(keyword) && !n.lists(keyword, v) {
			c.find(n, keyword, v)
		}
	}
	for _, l := range n.limits {
		if l.broken(v) {
			c.find(n, l.keyword, v)
		}
	}
	switch v := v.(type) {
	case string:
		if n.pattern != nil && !n.pattern().MatchString(v) {
			c.find(n, "pattern", v)
		}
		if n.format != nil && !n.format.accepts(v) {
			c.find(n, "format", v)
		}
	case map[string]any:
		c.object(n, v)
	case []any:
		if n.items != nil {
			for i, item := range v {
				c.path = append(c.path, strconv.Itoa(i))
				c.check(n.items, item)
				c.path = c.path[:len(c.path)-1]
			}
		}
	}
	if n.ref != nil {
		c.check(n.ref, v)
	}
	for _, sub := range n.allOf {
		c.check(sub, v)
	}
}

func (c *checker) object(n *node, m map[string]any) {
	for _, name := range n.required {
		if _, ok := m[name]; !ok {
			c.find(n, "required", m)
			break
		}
	}
	refused := false
	for key, item := range m {
		sub := n.fields[key]
		if sub == nil {
			sub = n.extra
			refused = refused || n.closed
		}
		if sub != nil {
			c.path = append(c.path, key)
			c.check(sub, item)
			c.path = c.path[:len(c.path)-1]
		}
	}
	if refused {
		c.find(n, "additionalProperties", m)
	}
}

// lists reports whether v is among the values that enum or const allow.
func (n *node) lists(keyword string, v any) bool {
	list, _ := n.keywords["enum"].([]any)
	if keyword == "const" {
		list = []any{n.keywords[keyword]}
	}
	return slices.ContainsFunc(list, func(item any) bool { return equal(item, v) })
}

// broken reports whether v breaks the limit. Values of other kinds than the limit is meant for never do.
func (l limit) broken(v any) bool {
	var size float64
	meant := "imum"
	switch v := v.(type) {
	case int:
		size = float64(v)
	case float64:
		size = v
	case string:
		if meant = "Length"; strings.HasSuffix(l.keyword, meant) {
			size = float64(utf8.RuneCountInString(v))
		}
	case []any:
		size, meant = float64(len(v)), "Items"
	case map[string]any:
		size, meant = float64(len(v)), "Properties"
	default:
		return false
	}
	switch {
	case !strings.HasSuffix(l.keyword, meant):
		return false
	case l.keyword == "exclusiveMinimum":
		return size <= l.bound
	case l.keyword == "exclusiveMaximum":
		return size >= l.bound
	case strings.HasPrefix(l.keyword, "min"):
		return size < l.bound
	}
	return size > l.bound
}
