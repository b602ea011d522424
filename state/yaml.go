package state

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/schema"
)

// maxYAMLNodes caps what aliases may expand to.
const maxYAMLNodes = 100_000

// A yamlReader turns nodes into JSON-like values. Working on nodes and not on
// the library's own decoding keeps the last of duplicate keys, keys that are
// not text, and the words yes and no as they are.
type yamlReader struct {
	left int // nodes that may still be read
	open map[*yaml.Node]bool
}

func readYAML(n *yaml.Node) (any, error) {
	r := yamlReader{left: maxYAMLNodes, open: map[*yaml.Node]bool{}}
	return r.value(n, 0)
}

func (r *yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if r.left--; r.left < 0 {
		return nil, yamlProblem(n, "its aliases expand to too much")
	}
	if depth > schema.MaxDepth {
		return nil, yamlProblem(n, fmt.Sprintf("is nested deeper than %d levels", schema.MaxDepth))
	}
	switch n.Kind {
	case yaml.AliasNode, yaml.MappingNode, yaml.SequenceNode:
		if r.open[n] {
			return nil, yamlProblem(n, "an alias stands inside what it refers to")
		}
		r.open[n] = true
		defer delete(r.open, n)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1)
	case yaml.ScalarNode:
		return scalarValue(n), nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return r.mapping(n, depth)
	}
	return nil, yamlProblem(n, "is of an unknown kind")
}

func (r *yamlReader) mapping(n *yaml.Node, depth int) (any, error) {
	object := make(map[string]any, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			merges = append(merges, value)
			continue
		}
		name, ok := keyText(key)
		if !ok {
			return nil, yamlProblem(key, "a key must be a word or text")
		}
		v, err := r.value(value, depth+1)
		if err != nil {
			return nil, err
		}
		object[name] = v
	}
	// What is merged never replaces a field, and an earlier merge counts more.
	for _, merge := range merges {
		v, err := r.value(merge, depth+1)
		if err != nil {
			return nil, err
		}
		sources, ok := v.([]any)
		if !ok {
			sources = []any{v}
		}
		for _, source := range sources {
			fields, ok := source.(map[string]any)
			if !ok {
				return nil, yamlProblem(merge, "<< must name an object, or a list of them")
			}
			for name, v := range fields {
				if _, taken := object[name]; !taken {
					object[name] = v
				}
			}
		}
	}
	return object, nil
}

func yamlProblem(n *yaml.Node, message string) error {
	return fmt.Errorf("has front matter that cannot be used: %d:%d: %s", n.Line+1, n.Column, message)
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Style == 0 && key.Value == "<<"
}

// keyText is the name of a field: the text of its key as it is written.
func keyText(key *yaml.Node) (string, bool) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key == nil || key.Kind != yaml.ScalarNode {
		return "", false
	}
	return key.Value, true
}

// scalarValue reads a scalar by the core schema of YAML 1.2. Text in quotes
// and in blocks is text, unless a tag says what it is.
func scalarValue(n *yaml.Node) any {
	tagged := n.Style&yaml.TaggedStyle != 0
	switch {
	case tagged && (!strings.HasPrefix(n.Tag, "!!") || n.Tag == "!!str"):
		return n.Value
	case !tagged && n.Style != 0:
		return n.Value
	}
	return coreValue(n.Value)
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && scalarValue(n) == nil
}

// coreValue is what a plain scalar means: null, a bool, a number, or text.
// Numbers that no float64 holds, infinities and NaN stay text, since no JSON
// has them.
func coreValue(text string) any {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if i, err := strconv.Atoi(text); err == nil {
		return i
	}
	for prefix, base := range map[string]int{"0x": 16, "0o": 8} {
		if digits, ok := strings.CutPrefix(text, prefix); ok {
			if i, err := strconv.ParseUint(digits, base, strconv.IntSize-1); err == nil {
				return int(i)
			}
		}
	}
	if strings.Trim(text, decimals+"+-.eE") == "" { // strconv reads more than YAML, such as inf and 0x1p4
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	return text
}

const decimals = "0123456789"

// nodeAt finds the node that a JSON pointer means, through aliases and merges,
// as readYAML does: of duplicate keys the last counts.
func nodeAt(n *yaml.Node, pointer string) (*yaml.Node, bool) {
	for _, token := range schema.SplitPointer(pointer) {
		var ok bool
		if n, ok = childOf(n, token, 0); !ok {
			return nil, false
		}
	}
	if n == nil {
		return nil, false
	}
	return dealias(n), true
}

func childOf(n *yaml.Node, token string, depth int) (*yaml.Node, bool) {
	if n == nil || depth > schema.MaxDepth {
		return nil, false
	}
	n = dealias(n)
	switch n.Kind {
	case yaml.SequenceNode:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil, false
		}
		return n.Content[i], true
	case yaml.MappingNode:
		if value, ok := fieldOf(n, token); ok {
			return value, true
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !isMerge(n.Content[i]) {
				continue
			}
			sources := []*yaml.Node{n.Content[i+1]}
			if list := dealias(n.Content[i+1]); list.Kind == yaml.SequenceNode {
				sources = list.Content
			}
			for _, source := range sources {
				if value, ok := childOf(source, token, depth+1); ok {
					return value, true
				}
			}
		}
	}
	return nil, false
}

// fieldOf gives the value of the last field called name that stands in the
// mapping itself.
func fieldOf(mapping *yaml.Node, name string) (*yaml.Node, bool) {
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		if key := mapping.Content[i]; !isMerge(key) {
			if text, ok := keyText(key); ok && text == name {
				return mapping.Content[i+1], true
			}
		}
	}
	return nil, false
}

func dealias(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}
