package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// step is one step from the root of a file to a node: a key, or an item of a list.
type step struct {
	key  string
	item bool
	node *yamltree.Node // the map or list of the step
}

// pathTo returns the steps to the innermost node at a place. key is the key of the last step if the place is in it.
func pathTo(n *yamltree.Node, at yamltree.Pos) (path []step, key *yamltree.Node) {
	within := func(n *yamltree.Node) bool { return !at.Before(n.Start) && !n.End().Before(at) }
	for n != nil {
		var next *yamltree.Node
		for _, f := range n.Fields {
			if within(f.Key) {
				return append(path, step{key: f.Key.Value, node: n}), f.Key
			}
			if within(f.Value) {
				path, next = append(path, step{key: f.Key.Value, node: n}), f.Value
				break
			}
		}
		for _, item := range n.Items {
			if within(item) {
				path, next = append(path, step{item: true, node: n}), item
				break
			}
		}
		n = next
	}
	return path, nil
}

// grammar is a JSON Schema of a kind of files: where keys and values are documented.
type grammar struct {
	node map[string]any
	root map[string]any
}

// grammarOf returns the grammar of a kind of files.
func (s *server) grammarOf(k kind) grammar {
	var src []byte
	switch k {
	case policy:
		src = rules.PolicySchema(append(rules.SourceKinds(), s.language.Sources...))
	case tests:
		src = policytest.Schema()
	case config:
		src = []byte(`{"properties": {"set": {"description": "Values of params: the name of a policy, then name: value."}}}`)
	default:
		return grammar{}
	}
	var root map[string]any
	if err := json.Unmarshal(src, &root); err != nil { // ralph's own
		panic(err)
	}
	return grammar{root, root}
}

// schemaAt returns the schemas of the node to which a path leads: several, if the file may be one of them.
func (s *server) schemaAt(k kind, path []step) []grammar {
	s.mu.Lock()
	if _, ok := s.grammars[k]; !ok {
		s.grammars[k] = s.grammarOf(k)
	}
	g := s.grammars[k]
	s.mu.Unlock()
	if g.node == nil {
		return nil
	}
	all := g.alternatives()
	for i, st := range path {
		var next []grammar
		for _, g := range fitting(all, st.node) {
			if st.item {
				next = append(next, g.child(g.node["items"])...)
			} else {
				next = append(next, g.property(st.key)...)
			}
		}
		if all = next; i+1 < len(path) {
			all = fitting(all, path[i+1].node)
		}
	}
	return all
}

// fitting leaves out schemas of objects that do not know a key of a node, unless none would be left.
func fitting(all []grammar, n *yamltree.Node) []grammar {
	if n == nil || len(all) < 2 {
		return all
	}
	fit := slices.DeleteFunc(slices.Clone(all), func(g grammar) bool {
		properties, ok := g.node["properties"].(map[string]any)
		return !ok || !slices.ContainsFunc(n.Fields, func(f yamltree.Field) bool { return properties[f.Key.Value] != nil && !common(all, f.Key.Value) })
	})
	if len(fit) == 0 {
		return all
	}
	return fit
}

// common reports whether all schemas of objects know a key.
func common(all []grammar, key string) bool {
	return !slices.ContainsFunc(all, func(g grammar) bool {
		properties, ok := g.node["properties"].(map[string]any)
		return ok && properties[key] == nil
	})
}

func (g grammar) child(v any) []grammar {
	node, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	return grammar{node, g.root}.alternatives()
}

// alternatives returns what a schema may stand for.
func (g grammar) alternatives() (all []grammar) {
	if ref, ok := g.node["$ref"].(string); ok {
		var at any = g.root
		for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			of, _ := at.(map[string]any)
			at = of[name]
		}
		all = append(all, g.child(at)...)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := g.node[key].([]any)
		for _, one := range list {
			all = append(all, g.child(one)...)
		}
	}
	return append(all, g)
}

// property returns the schemas of a key.
func (g grammar) property(key string) []grammar {
	properties, _ := g.node["properties"].(map[string]any)
	if p, ok := properties[key]; ok {
		return g.child(p)
	}
	return g.child(g.node["additionalProperties"])
}

// keys returns the names of the keys.
func (g grammar) keys() []string {
	properties, _ := g.node["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// values returns the values that are listed.
func (g grammar) values() (values []string) {
	for _, key := range []string{"enum", "examples"} {
		list, _ := g.node[key].([]any)
		for _, v := range list {
			values = append(values, fmt.Sprint(v))
		}
	}
	if v, ok := g.node["const"]; ok {
		values = append(values, fmt.Sprint(v))
	}
	if g.node["type"] == "boolean" {
		values = append(values, "true", "false")
	}
	return values
}

// descriptionOf returns the first description of some schemas.
func descriptionOf(all []grammar) string {
	for _, g := range all {
		if doc, _ := g.node["description"].(string); doc != "" {
			return doc
		}
	}
	return ""
}
