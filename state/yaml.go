package state

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/schema"
)

// maxYAMLNodes bounds the expansion of aliases.
const maxYAMLNodes = 100_000

// A yamlReader converts nodes to JSON-like values. Unlike the library's decoder, it keeps the last of duplicate keys,
// keys that are not strings, and the words yes and no as they are. As in YAML 1.2, << is an ordinary name.
type yamlReader struct {
	left int // nodes that may still be read
}

// read returns how many nodes were read.
func (r *yamlReader) read() int64 { return maxYAMLNodes - int64(r.left) }

func readYAML(n *yaml.Node) (any, error) {
	r := yamlReader{left: maxYAMLNodes}
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
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name, ok := keyText(key)
		if !ok {
			return nil, yamlProblem(key, "a key must be a string")
		}
		v, err := r.value(value, depth+1)
		if err != nil {
			return nil, err
		}
		object[name] = v
	}
	return object, nil
}

func yamlProblem(n *yaml.Node, message string) error {
	return fmt.Errorf("has front matter that cannot be used: %d:%d: %s", n.Line+1, n.Column, message)
}

// keyText returns the name of a field: the text of its key as written.
func keyText(key *yaml.Node) (string, bool) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key == nil || key.Kind != yaml.ScalarNode {
		return "", false
	}
	return key.Value, true
}

// scalarValue reads a scalar by the core schema of YAML 1.2. Quoted and block scalars are strings, unless a tag says
// otherwise.
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

// coreValue returns the value of a plain scalar: null, a bool, a number, or a string. Numbers beyond float64,
// infinities and NaN stay strings, since JSON has none of them.
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
	if strings.Trim(text, decimals+"+-.eE") == "" { // strconv accepts more than YAML, such as inf and 0x1p4
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	return text
}

const decimals = "0123456789"

// nodeAt returns the node at a JSON pointer, following aliases as readYAML does: of duplicate keys the last counts.
func nodeAt(n *yaml.Node, pointer string) (*yaml.Node, bool) {
	if n == nil {
		return nil, false
	}
	n = dealias(n)
	for _, token := range schema.SplitPointer(pointer) {
		ok := false
		switch n.Kind {
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
				n, ok = n.Content[i], true
			}
		case yaml.MappingNode:
			n, ok = fieldOf(n, token)
		}
		if !ok {
			return nil, false
		}
		n = dealias(n)
	}
	return n, true
}

// fieldOf returns the value of the last field called name in the mapping itself.
func fieldOf(mapping *yaml.Node, name string) (*yaml.Node, bool) {
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		if text, ok := keyText(mapping.Content[i]); ok && text == name {
			return mapping.Content[i+1], true
		}
	}
	return nil, false
}

// maxRepeated bounds the repeated keys of a document that are reported.
const maxRepeated = 10

// repeatedFields appends to all the JSON pointers of keys that a mapping in n has more than once. It does not follow
// aliases, whose mappings are elsewhere too.
func repeatedFields(n *yaml.Node, path []any, all []string) []string {
	switch {
	case n == nil || len(all) >= maxRepeated:
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			all = repeatedFields(item, append(path, i), all)
		}
	case n.Kind == yaml.MappingNode:
		seen := make(map[string]int, len(n.Content)/2) // how often, by key
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, _ := keyText(n.Content[i])
			if seen[name]++; seen[name] == 2 {
				all = append(all, schema.PointerOf(append(path, name)))
			}
			all = repeatedFields(n.Content[i+1], append(path, name), all)
		}
	}
	return all
}

func dealias(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}
