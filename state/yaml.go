package state

import (
	"fmt"
	"math"
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
	if base, digits := intDigits(text); digits != "" {
		if i, err := strconv.ParseInt(digits, base, strconv.IntSize); err == nil {
			return int(i)
		}
	}
	if isFloat(text) {
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) {
			return f
		}
	}
	return text
}

// intDigits gives the digits of an integer (with sign if decimal) and their
// base, or no digits if the text is none.
func intDigits(text string) (base int, digits string) {
	if d, ok := strings.CutPrefix(text, "0x"); ok {
		return 16, only(d, "0123456789abcdefABCDEF")
	}
	if d, ok := strings.CutPrefix(text, "0o"); ok {
		return 8, only(d, "01234567")
	}
	d := strings.TrimLeft(text, "+-")
	if len(text)-len(d) > 1 || only(d, decimals) == "" {
		return 10, ""
	}
	return 10, text
}

const decimals = "0123456789"

// only gives s if it consists of the characters of set.
func only(s, set string) string {
	if strings.Trim(s, set) != "" {
		return ""
	}
	return s
}

// isFloat checks the shape [-+]? ( digits [. digits?]? | . digits ) ( [eE] [-+]? digits )?
// because strconv accepts more.
func isFloat(text string) bool {
	digits := func(s string) string { return strings.TrimLeft(s, decimals) }
	s := text
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	rest := digits(s)
	whole := len(s) - len(rest)
	fraction := 0
	if strings.HasPrefix(rest, ".") {
		s = rest[1:]
		rest = digits(s)
		fraction = len(s) - len(rest)
	}
	if whole+fraction == 0 {
		return false
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		s = rest[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		rest = digits(s)
		if len(s) == len(rest) {
			return false
		}
	}
	return rest == ""
}

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
