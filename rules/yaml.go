package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/schema"
)

// Limits of a policy file. Each use of an alias counts the nodes that it stands for.
const (
	maxFileBytes = 1 << 20
	maxFileDepth = 60
	maxFileNodes = 50_000
)

// document reads the one document of a policy file and bounds it, so that all that follows may walk it freely.
func (c *compiler) document(src []byte) *yaml.Node {
	c.lines = strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(src))
	room := maxFileNodes
	switch {
	case len(src) > maxFileBytes:
		c.report(spot{}, 1, "yaml", fmt.Sprintf("the file has %d bytes, and a policy at most %d", len(src), maxFileBytes), "")
	case !utf8.Valid(src):
		c.report(spot{}, 1, "yaml", "the file is not UTF-8", "save it as UTF-8")
	default:
		if err := d.Decode(&doc); err == io.EOF {
			c.report(spot{}, 1, "yaml", "the file is empty", "begin with ralph: 1")
		} else if err != nil {
			line, col, message, help := text.Misread(strings.Join(c.lines, "\n"), err)
			c.report(at(&yaml.Node{Line: line, Column: col}), 1, "yaml", message, help)
		} else if n := excess(doc.Content[0], maxFileDepth, &room); n != nil {
			c.report(at(n), 1, "yaml", fmt.Sprintf("the file is nested more than %d deep, or has more than %d values with those of its aliases", maxFileDepth, maxFileNodes), "")
		} else if d.Decode(&more) != io.EOF {
			c.report(spot{}, 1, "yaml", "the file has more than one document", "remove the line ---")
		} else {
			return doc.Content[0]
		}
	}
	return nil
}

// excess puts what aliases stand for in their places, and returns the first node that is too deep, or one too many.
func excess(n *yaml.Node, depth int, room *int) *yaml.Node {
	if *room--; *room < 0 || depth == 0 {
		return n
	}
	for i, child := range n.Content {
		if child.Kind == yaml.AliasNode {
			child = child.Alias
			n.Content[i] = child
		}
		if x := excess(child, depth-1, room); x != nil {
			return x
		}
	}
	return nil
}

// fields are the values of a mapping by key, with the nodes of the keys.
type fields struct {
	node         *yaml.Node
	keys, values map[string]*yaml.Node
}

// whole reports whether it is a mapping whose keys are all known.
func (f fields) whole() bool {
	return f.node.Kind == yaml.MappingNode && len(f.values)*2 == len(f.node.Content)
}

// fields reads a mapping whose keys are known, and reports those that are not.
func (c *compiler) fields(n *yaml.Node, what string, known []string) fields {
	f := fields{n, map[string]*yaml.Node{}, map[string]*yaml.Node{}}
	c.entries(n, what, func(k, v *yaml.Node) {
		if slices.Contains(known, k.Value) {
			f.keys[k.Value], f.values[k.Value] = k, v
			return
		}
		help := habits[k.Value+":"]
		if strings.ContainsAny(k.Value, "()\"'") {
			help = "within { } a comma ends a value: put the value before it in quotes"
		} else if help == "" {
			help = cmp.Or(text.Nearest(k.Value, known), "there is "+strings.Join(known, ", "))
		}
		c.report(at(k), 0, "unknown-key", fmt.Sprintf("%s has no key %s", what, k.Value), help)
	})
	return f
}

// entries calls read for each key of a mapping, and reports keys that occur twice. Like all readers of nodes it accepts nil.
func (c *compiler) entries(n *yaml.Node, what string, read func(key, value *yaml.Node)) {
	if n == nil || !c.isKind(n, yaml.MappingNode, what+" is a mapping", "write key: value, a line each") {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if seen[k.Value] {
			c.report(at(k), 0, "duplicate-key", fmt.Sprintf("the key %s occurs twice", k.Value), "remove one of them")
			continue
		}
		seen[k.Value] = true
		read(k, n.Content[i+1])
	}
}

// list returns the elements of a list.
func (c *compiler) list(n *yaml.Node, what string) []*yaml.Node {
	if n != nil && c.isKind(n, yaml.SequenceNode, what+" is a list", "begin each element with -") {
		return n.Content
	}
	return nil
}

func (c *compiler) isKind(n *yaml.Node, kind yaml.Kind, message, help string) bool {
	if n.Kind != kind {
		c.report(at(n), 0, "type", message, help)
	}
	return n.Kind == kind
}

// scalar reports whether a node is a text, a number or a boolean, which a policy reads as text.
func (c *compiler) scalar(n *yaml.Node, what string) bool {
	switch {
	case n == nil:
		return false
	case n.Kind != yaml.ScalarNode:
		return c.isKind(n, yaml.ScalarNode, what+" is a text", "what begins with { or [ is no text in YAML: put it in quotes")
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		c.report(at(n), len(n.Tag), "yaml", fmt.Sprintf("YAML takes %s for a tag and drops it", n.Tag), fmt.Sprintf("write not %s, or put the value in quotes", n.Tag[1:]))
		return false
	case n.Tag == "!!null":
		c.report(at(n), 0, "type", what+" has no value", "write it, or leave the key out")
		return false
	}
	return true
}

// amount reads what is more than 0, and may be given by the name of a param: a whole number, or a duration.
func amount[N int | time.Duration](c *compiler, n *yaml.Node, what string) (v N) {
	if !c.scalar(n, what) {
		return 0
	}
	value := n.Value
	if s := c.symbols[value]; s != nil && s.meaning == constant {
		value, s.read[nil] = show(s.value), at(n)
	}
	kind, help, err := "a number of at least 1", "write a number, or the name of a param", error(nil)
	switch v := any(&v).(type) {
	case *int:
		*v, err = strconv.Atoi(value)
	case *time.Duration:
		kind, help = "a duration", "write a number with its unit, such as 90s, 10m or 24h"
		*v, err = time.ParseDuration(value)
	}
	if err != nil || v <= 0 {
		c.report(at(n), 0, "type", fmt.Sprintf("%s is %s, and this is %s", what, kind, value), help)
	}
	return max(v, 0)
}

// data returns a value of the policy as JSON has it.
func (c *compiler) data(n *yaml.Node) (v any, src []byte) {
	err := n.Decode(&v)
	if err == nil {
		src, err = json.Marshal(v)
	}
	if err == nil {
		v, err = schema.ParseJSON(src)
	}
	if err != nil {
		c.report(at(n), 0, "type", "this is no JSON value: "+err.Error(), "")
		return nil, nil
	}
	return v, src
}
