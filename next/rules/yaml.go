package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// Limits of a policy file. Each use of an alias counts the nodes that it stands for.
const (
	maxFileBytes = 1 << 20
	maxFileDepth = 60
	maxFileNodes = 50_000
)

// document reads the one document of a policy file and bounds it, so that all that follows may walk it freely.
func (c *compiler) document(src []byte) *yaml.Node {
	problem := func(message, help string) *yaml.Node {
		c.add(Finding{Line: 1, Col: 1, Check: "yaml", Message: message, Help: help})
		return nil
	}
	if len(src) > maxFileBytes {
		return problem(fmt.Sprintf("the file has %d bytes, and a policy at most %d", len(src), maxFileBytes), "")
	}
	if !utf8.Valid(src) {
		return problem("the file is not UTF-8", "save it as UTF-8")
	}
	c.lines = strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(src))
	switch err := d.Decode(&doc); {
	case err == io.EOF:
		return problem("the file is empty", "begin with ralph: 1")
	case err != nil:
		c.yamlError(err)
		return nil
	}
	root := doc.Content[0]
	room := maxFileNodes
	if n := excess(root, maxFileDepth, &room); n != nil {
		c.reportNode(n, "yaml", fmt.Sprintf("the file is nested more than %d deep, or has more than %d values with those of its aliases", maxFileDepth, maxFileNodes), "")
		return nil
	}
	if err := d.Decode(&more); err != io.EOF {
		return problem("the file has more than one document", "remove the line ---")
	}
	return root
}

// excess returns the first node that is too deep, or one too many.
func excess(n *yaml.Node, depth int, room *int) *yaml.Node {
	if *room--; *room < 0 || depth == 0 {
		return n
	}
	if n.Kind == yaml.AliasNode {
		return excess(n.Alias, depth-1, room)
	}
	for _, child := range n.Content {
		if x := excess(child, depth-1, room); x != nil {
			return x
		}
	}
	return nil
}

var errorLine = regexp.MustCompile(`line (\d+): (.*)`)

// yamlError reports a syntax error at its line, with the trap that most likely led to it.
func (c *compiler) yamlError(err error) {
	f := Finding{Line: 1, Col: 1, Check: "yaml", Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := errorLine.FindStringSubmatch(f.Message); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		f.Message = m[2]
	}
	f.Line = min(max(f.Line, 1), len(c.lines))
	for _, at := range []int{f.Line, f.Line - 1, f.Line + 1} { // the library may name a line beside it
		if at < 1 || at > len(c.lines) {
			continue
		}
		if col, message, help := trap(c.lines[at-1]); help != "" {
			f.Line, f.Col, f.Message, f.Help = at, col, message, help
			break
		}
	}
	c.add(f)
}

var plainValue = regexp.MustCompile(`^\s*(?:- )?[\w-]+: +([^'"|>\[{&*!].*)$`)

// trap names what YAML reads otherwise than it looks in a line that it refuses.
func trap(line string) (col int, message, help string) {
	at := func(i int) int { return utf8.RuneCountInString(line[:i]) + 1 }
	if i := strings.IndexByte(line, '\t'); i >= 0 && strings.TrimSpace(line[:i]) == "" {
		return at(i), "a tab indents this line", "YAML is indented with spaces"
	}
	m := plainValue.FindStringSubmatchIndex(line)
	if m == nil {
		if i := strings.IndexAny(line, "`@%"); i >= 0 && strings.HasSuffix(strings.TrimRight(line[:i], " "), ":") {
			return at(i), fmt.Sprintf("a value cannot begin with %c", line[i]), "put the value in quotes"
		}
		return 0, "", ""
	}
	value := line[m[2]:]
	if i := strings.Index(value, ": "); i >= 0 {
		if strings.Contains(value[:i], " ? ") {
			return at(m[2] + i), "in YAML a colon and a space end a key, here within a condition with ? and :", "put the expression in quotes, or on a line of its own below |-"
		}
		return at(m[2] + i), "in YAML a colon and a space end a key, here within a text", "put the text in quotes, or on a line of its own below |-"
	}
	return 0, "", ""
}

// resolved follows aliases.
func resolved(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// fields are the values of a mapping by key, with the nodes of the keys.
type fields struct {
	node         *yaml.Node
	keys, values map[string]*yaml.Node
}

func (f fields) has(key string) bool { return f.values[key] != nil }

// fields reads a mapping whose keys are known, and reports those that are not.
func (c *compiler) fields(n *yaml.Node, what string, known ...string) fields {
	f := fields{n, map[string]*yaml.Node{}, map[string]*yaml.Node{}}
	c.entries(n, what, func(k, v *yaml.Node) {
		if !slices.Contains(known, k.Value) {
			help := foreignKeys[k.Value]
			if help == "" {
				help = text.Nearest(k.Value, known)
			}
			c.reportNode(k, "unknown-key", fmt.Sprintf("%s has no key %s", what, k.Value), help)
			return
		}
		f.keys[k.Value], f.values[k.Value] = k, v
	})
	return f
}

// entries calls read for each key of a mapping, and reports keys that are there twice.
func (c *compiler) entries(n *yaml.Node, what string, read func(key, value *yaml.Node)) {
	if n == nil || n.Kind != yaml.MappingNode {
		if n != nil {
			c.reportNode(n, "type", what+" is a mapping of keys and values", "write key: value, a line each")
		}
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := resolved(n.Content[i]), resolved(n.Content[i+1])
		if seen[k.Value] {
			c.reportNode(k, "duplicate-key", fmt.Sprintf("the key %s is there twice", k.Value), "remove one of them")
			continue
		}
		seen[k.Value] = true
		read(k, v)
	}
}

// list returns the elements of a list.
func (c *compiler) list(n *yaml.Node, what string) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		if n != nil {
			c.reportNode(n, "type", what+" is a list", "begin each element with - ")
		}
		return nil
	}
	out := make([]*yaml.Node, len(n.Content))
	for i, x := range n.Content {
		out[i] = resolved(x)
	}
	return out
}

// scalar reports whether a node is a text, a number or a boolean, which a policy reads as text.
func (c *compiler) scalar(n *yaml.Node, what string) bool {
	switch {
	case n == nil:
		return false
	case n.Kind != yaml.ScalarNode:
		help := ""
		if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 || n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle != 0 {
			help = "a value that begins with { or [ is not a text in YAML: put it in quotes"
		}
		c.reportNode(n, "type", what+" is a text", help)
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		c.reportNode(n, "yaml", fmt.Sprintf("YAML takes %s for a tag and drops it", n.Tag), fmt.Sprintf("write not %s, or put the value in quotes", n.Tag[1:]))
	case n.Tag == "!!null":
		c.reportNode(n, "type", what+" has no value", "")
	default:
		return true
	}
	return false
}

// truth reads true or false.
func (c *compiler) truth(n *yaml.Node, what string) bool {
	if c.scalar(n, what) && n.Tag != "!!bool" {
		c.reportNode(n, "type", what+" is true or false", "")
	}
	return n != nil && n.Value == "true"
}

// param returns the value of a param whose name stands where a number or duration does.
func (c *compiler) param(n *yaml.Node) (any, bool) {
	for _, p := range c.p.Params {
		if p.Name == n.Value {
			return p.Value, true
		}
	}
	return nil, false
}

// number reads a whole number of at least 1, or the name of a param that has one.
func (c *compiler) number(n *yaml.Node, what string) int {
	if !c.scalar(n, what) {
		return 0
	}
	if v, ok := c.param(n); ok {
		if i, ok := v.(int); ok && i >= 1 {
			return i
		}
		c.reportNode(n, "type", fmt.Sprintf("%s is a number of at least 1, and the param %s is %s", what, n.Value, show(v)), "")
		return 0
	}
	i, err := strconv.Atoi(n.Value)
	if err != nil || i < 1 {
		c.reportNode(n, "type", fmt.Sprintf("%s is a number of at least 1, or the name of a param", what), text.Nearest(n.Value, c.paramNames()))
		return 0
	}
	return i
}

// duration reads a duration, or the name of a param that has one as its text.
func (c *compiler) duration(n *yaml.Node, what string) time.Duration {
	if !c.scalar(n, what) {
		return 0
	}
	value := n.Value
	if v, ok := c.param(n); ok {
		value = show(v)
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		c.reportNode(n, "type", fmt.Sprintf("%s is a duration, and %q is none", what, value), "write a number with its unit, such as 90s, 10m or 24h")
		return 0
	}
	return d
}

var errNotJSON = errors.New("a key is no text")

// plainValueOf returns a YAML value as JSON has it.
func plainValueOf(n *yaml.Node) (any, error) {
	n = resolved(n)
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := resolved(n.Content[i])
			if k.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: %w", k.Line, errNotJSON)
			}
			v, err := plainValueOf(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[k.Value] = v
		}
		return m, nil
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i := range n.Content {
			v, err := plainValueOf(n.Content[i])
			if err != nil {
				return nil, err
			}
			l[i] = v
		}
		return l, nil
	}
	if n.Tag == "!!timestamp" { // a date is a text in JSON
		return n.Value, nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("line %d: %w", n.Line, err)
	}
	return v, nil
}
