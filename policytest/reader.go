package policytest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// reader reads a test file, and collects what is wrong with it.
type reader struct {
	file   string
	lines  []string
	policy *rules.Policy
	open   bool // the program may declare more names than the policy
	found  rules.Findings
}

// read reads a test file. The error is rules.Findings if it is YAML.
func read(fsys fs.FS, name string, p *rules.Policy, open bool) ([]test, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("the tests: %w", err)
	}
	r := &reader{file: name, lines: strings.Split(string(src), "\n"), policy: p, open: open}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		line, col, message, help := text.Misread(string(src), err)
		r.report(&yaml.Node{Line: line, Column: col}, message, help)
		return nil, r.found
	}
	if len(doc.Content) == 0 {
		doc.Content = []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}}
	}
	root, all := doc.Content[0], suite{}
	if r.walk(root, reflect.TypeFor[suite]()); len(r.found) == 0 {
		r.decode(root, &all) // where it stands, before a given is merged
	}
	if len(r.found) == 0 {
		r.tests(root, all.Tests)
	}
	if len(r.found) > 0 {
		slices.SortStableFunc(r.found, func(a, b rules.Finding) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
		return nil, r.found
	}
	return all.Tests, nil
}

// report adds a finding at a node.
func (r *reader) report(n *yaml.Node, message, help string) {
	f := rules.Finding{File: r.file, Line: n.Line, Col: n.Column, Check: "test", Message: message, Help: help, Width: 1}
	if n.Line >= 1 && n.Line <= len(r.lines) {
		f.Source = r.lines[n.Line-1]
	}
	if n.Kind == yaml.ScalarNode {
		f.Width = len([]rune(n.Value))
	}
	r.found = append(r.found, f)
}

// walk reports what a type has no place for: unknown keys, nothing where something is to be, aliases. Times become texts, as they are in
// JSON.
func (r *reader) walk(n *yaml.Node, t reflect.Type) {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.report(n, "an alias is not read", "write it out, or once in the given of the file")
	case yaml.ScalarNode:
		if n.Tag == "!!timestamp" {
			n.Tag = "!!str"
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Tag == "!!null" && keys(elem(t)) != nil {
				r.report(item, "an item of the list is empty", "remove it, or write a value")
			}
			if elem(t) == reflect.TypeFor[loop.Tool]() && item.Kind == yaml.ScalarNode { // its name
				name := *item
				*item = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: item.Line, Column: item.Column, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "name"}, &name}}
			}
			r.walk(item, elem(t))
		}
	case yaml.MappingNode:
		for key, value := range fields(n) {
			of := elem(t)
			if known := keys(t); known != nil {
				var ok bool
				if of, ok = known[key.Value]; !ok {
					r.report(key, fmt.Sprintf("there is no key %q here", key.Value), text.Nearest(key.Value, slices.Sorted(maps.Keys(known))))
					continue
				}
				if value.Tag == "!!null" {
					r.report(key, key.Value+" is empty", "remove it, or write a value")
				}
			}
			r.walk(value, of)
		}
	}
}

// elem returns the type of the values in a map or list, nil for any.
func elem(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Map || t.Kind() == reflect.Slice) {
		return t.Elem()
	}
	return nil
}

// keys returns the keys of a struct with the types of their values.
func keys(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct || t == reflect.TypeFor[yaml.Node]() {
		return nil
	}
	known := map[string]reflect.Type{}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			known[cmp.Or(f.Tag.Get("yaml"), strings.ToLower(f.Name))] = f.Type
		}
	}
	return known
}

// decode reads a node into a value, and reports what has a wrong type.
func (r *reader) decode(n *yaml.Node, to any) {
	if n == nil {
		return
	}
	err, types := n.Decode(to), &yaml.TypeError{}
	if err != nil && !errors.As(err, &types) {
		types.Errors = []string{err.Error()}
	}
	for _, message := range types.Errors {
		at := *n
		if _, err := fmt.Sscanf(message, "line %d:", &at.Line); err == nil {
			_, message, _ = strings.Cut(message, ": ")
			at.Column = 1
		}
		r.report(&at, message, "")
	}
}

// merge returns a node with own over base, map by map. A file that is absent has nothing else.
func merge(base, own *yaml.Node) *yaml.Node {
	switch {
	case own == nil:
		return base
	case base == nil || base.Kind != yaml.MappingNode || own.Kind != yaml.MappingNode || field(own, "absent") != nil || field(base, "absent") != nil:
		return own
	}
	out := *own
	out.Content = nil
	for key, value := range fields(base) {
		out.Content = append(out.Content, key, merge(value, field(own, key.Value)))
	}
	for key, value := range fields(own) {
		if field(base, key.Value) == nil {
			out.Content = append(out.Content, key, value)
		}
	}
	return &out
}

// fields yields the keys of a map with their values.
func fields(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// field returns a value of a map, nil if it has none.
func field(n *yaml.Node, key string) *yaml.Node {
	for k, value := range fields(n) {
		if k.Value == key {
			return value
		}
	}
	return nil
}
