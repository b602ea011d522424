package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds values within values.
const maxDepth = 200

// errNotPlain is for YAML whose tags, anchors and aliases people hardly mean.
var errNotPlain = errors.New("is not plain YAML")

// readYAML reads one YAML document as JSON values, nil if it is empty.
func readYAML(b []byte) (v any, err error) {
	defer func() {
		if p := recover(); p != nil { // the library is not ours
			v, err = nil, fmt.Errorf("is not YAML: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil, !errors.Is(dec.Decode(&second), io.EOF):
		return nil, errNotPlain
	}
	return valueOf(doc.Content[0], 0)
}

// valueOf returns the value of a node as JSON has it. The library's own decoder refuses duplicate keys, and reads times.
func valueOf(n *yaml.Node, depth int) (any, error) {
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || depth > maxDepth {
		return nil, errNotPlain
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Style != 0 {
			return n.Value, nil // in quotes, or a block
		}
		return scalar(n.Value), nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := valueOf(c, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			v, err := valueOf(n.Content[i+1], depth+1)
			if err != nil || key.Kind != yaml.ScalarNode {
				return nil, errNotPlain
			}
			object[key.Value] = v
		}
		return object, nil
	}
	return nil, errNotPlain // an alias
}

// scalar reads a plain scalar by the core schema of YAML 1.2: null, a boolean, a number, or a text. Numbers that JSON does not have stay
// texts.
func scalar(text string) any {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if strings.Trim(text, "0123456789+-.eE") != "" { // strconv reads more than YAML, such as inf and 1_000
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return text
	case f == math.Trunc(f) && math.Abs(f) <= 1<<53:
		return int(f)
	}
	return f
}
