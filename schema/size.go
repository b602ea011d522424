package schema

import (
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxExpanded bounds a schema by the number of its parts, each reference replaced by what it refers to: the library has no limit on its
// steps, and 40 definitions that each refer twice to the next make a million million.
const maxExpanded = 1_000_000

// sizes counts the parts of schemas, each once.
type sizes map[*jsonschema.Schema]int

func (m sizes) of(s *jsonschema.Schema) int {
	if s == nil {
		return 0
	}
	if n, ok := m[s]; ok {
		return n
	}
	m[s] = 1 // within itself
	parts := []*jsonschema.Schema{s.Ref, s.DynamicRef, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.UnevaluatedItems, s.Items2020, s.Contains, s.ContentSchema}
	parts = slices.Concat(parts, s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, slices.Collect(maps.Values(s.Properties)),
		slices.Collect(maps.Values(s.PatternProperties)), slices.Collect(maps.Values(s.DependentSchemas)))
	for _, x := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		parts = add(parts, x)
	}
	n := 1
	for _, part := range parts {
		n = min(n+m.of(part), maxExpanded+1)
	}
	m[s] = n
	return n
}
