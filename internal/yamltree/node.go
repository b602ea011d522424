package yamltree

import (
	"sync/atomic"

	"go.yaml.in/yaml/v3"
)

// Kind is the kind of a node. The zero Kind is Scalar.
type Kind uint8

// The kinds of nodes.
const (
	Scalar Kind = iota // Value has its text
	Map                // Fields has its entries
	List               // Items has its elements
)

// String returns "scalar", "map" or "list".
func (k Kind) String() string {
	switch k {
	case Map:
		return "map"
	case List:
		return "list"
	}
	return "scalar"
}

// Style is how a node is written.
type Style uint8

// The styles of scalars, then those of maps and lists.
const (
	Plain        Style = iota // a b
	DoubleQuoted              // "a b"
	SingleQuoted              // 'a b'
	Literal                   // |
	Folded                    // >
	Flow                      // {a: b} or [a, b]
	Block                     // one entry a line
)

// A Node is a map, a list or a scalar. Nodes do not change after Parse and are safe for concurrent use. They must not
// be copied.
type Node struct {
	Kind    Kind
	Style   Style
	Start   Pos     // of its first character: the quote, the |, the [, or the first key
	Tag     string  // "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map" or "!!seq"
	Value   string  // a scalar's decoded text
	Fields  []Field // a map's entries in the order of the file
	Items   []*Node // a list's elements
	Comment string  // the comment after it on its line, with its #

	file   *file
	offset int // of Start in file.text
	places atomic.Pointer[places]
}

// A Field is one entry of a map. Key is a scalar unless a problem reports otherwise; neither is nil.
type Field struct{ Key, Value *Node }

// KindName returns the node's kind for messages.
func (n *Node) KindName() string {
	switch {
	case n.Kind == Map:
		return "a map"
	case n.Kind == List:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	}
	return "a string"
}

// Get returns the value of the first field called key. It returns nil if there is none, or if n is nil or not a map.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, f := range n.Fields {
		if f.Key.Kind == Scalar && f.Key.Value == key {
			return f.Value
		}
	}
	return nil
}

// At returns the position in the file of the rune at this offset of Value, counted in runes. An escaped rune is at its
// escape; a space or line feed from the end of a line is there. The offset after the last rune is allowed; line feeds
// that end a block scalar do not count as text, so it is on their line, not below. An offset out of range means the
// nearest one. For maps, lists and nodes without source At returns Start.
//
// The table is built at the first call and kept.
func (n *Node) At(offset int) Pos {
	if n.Kind != Scalar || n.file == nil {
		return n.Start
	}
	return n.file.pos(n.table().at(n.Value, offset))
}

// End returns the position after the node: after the closing quote or bracket, after the last character of another
// scalar, and the end of the last child of another map or list.
func (n *Node) End() Pos {
	if n.file == nil {
		return n.Start
	}
	return n.file.pos(n.end())
}

// end returns the offset of End.
func (n *Node) end() int {
	text, at := n.file.text, n.offset
	switch {
	case n.Kind == Scalar:
		return n.table().end
	case len(n.Fields) > 0:
		at = n.Fields[len(n.Fields)-1].Value.end()
	case len(n.Items) > 0:
		at = n.Items[len(n.Items)-1].end()
	case n.Style == Flow:
		at = min(at+1, len(text))
	}
	if n.Style != Flow {
		return at
	}
	for at = skipSpace(text, at); at < len(text) && text[at] == ','; {
		at = skipSpace(text, at+1)
	}
	return min(at+1, len(text))
}

// table returns the map from Value to the file. Concurrent calls may build it twice, with the same result.
func (n *Node) table() *places {
	if t := n.places.Load(); t != nil {
		return t
	}
	t := locate(n)
	n.places.Store(t)
	return t
}

// Decode returns the node as a plain value: map[string]any, []any, string, int, float64, bool or nil. An integer that
// does not fit an int is a float64. The last of duplicate keys, which are reported, counts.
func (n *Node) Decode() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Map:
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			m[f.Key.Value] = f.Value.Decode()
		}
		return m
	case List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Decode()
		}
		return list
	}
	if n.Tag == "!!str" || n.Tag == "" {
		return n.Value
	}
	// The library resolved the tag from the text, so it must also parse it: 0x1F, 1_000, .inf and so on keep their
	// meaning.
	scalar := yaml.Node{Kind: yaml.ScalarNode, Tag: n.Tag, Value: n.Value}
	var v any
	if err := scalar.Decode(&v); err != nil {
		return n.Value
	}
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case int, float64, bool, nil:
		return v
	}
	return n.Value
}

// Count returns the number of maps, lists and scalars in n, including keys.
func (n *Node) Count() int {
	count := 1
	for _, f := range n.Fields {
		count += 1 + f.Value.Count()
	}
	for _, item := range n.Items {
		count += item.Count()
	}
	return count
}
