package policytest

import (
	"slices"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// situationOf merges the situation of a test into that of its file. However the file gives a fact, the test's value
// counts.
func situationOf(common, own *yamltree.Node) *yamltree.Node {
	ways := []string{"facts", "missing", "invalid"}
	base := &yamltree.Node{Kind: yamltree.Map}
	for _, f := range common.Fields {
		if slices.Contains(ways, f.Key.Value) {
			facts := &yamltree.Node{Kind: yamltree.Map}
			for _, fact := range f.Value.Fields {
				if !slices.ContainsFunc(ways, func(way string) bool { return way != f.Key.Value && own.Get(way).Get(fact.Key.Value) != nil }) {
					facts.Fields = append(facts.Fields, fact)
				}
			}
			f.Value = facts
		}
		base.Fields = append(base.Fields, f)
	}
	return merged(base, own, 0)
}

// values is the depth below which null is a value, such as that of a field of a fact. Above it, null removes.
const values = 2

// merged merges one map into another: maps are merged, everything else is replaced.
func merged(base, own *yamltree.Node, depth int) *yamltree.Node {
	if own.Kind != yamltree.Map {
		return own
	}
	out := &yamltree.Node{Kind: yamltree.Map, Tag: own.Tag, Start: own.Start}
	if base.Kind == yamltree.Map {
		out.Fields = slices.Clone(base.Fields)
	}
	for _, f := range own.Fields {
		i := index(out, f.Key.Value)
		taken := isNull(f.Value) && depth < values
		switch {
		case i < 0 && !taken:
			out.Fields = append(out.Fields, yamltree.Field{Key: f.Key, Value: merged(&yamltree.Node{}, f.Value, depth+1)})
		case taken && i >= 0:
			out.Fields = slices.Delete(out.Fields, i, i+1)
		case i >= 0:
			out.Fields[i] = yamltree.Field{Key: f.Key, Value: merged(out.Fields[i].Value, f.Value, depth+1)}
		}
	}
	return out
}

// index returns the index of a key in a map, or -1.
func index(n *yamltree.Node, key string) int {
	return slices.IndexFunc(n.Fields, func(f yamltree.Field) bool { return f.Key.Value == key })
}
