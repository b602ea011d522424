package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The own checker stands in for the library, which has the last word. Here both judge the same values: schemas are drawn
// from the keywords that the own checker knows, values from what such schemas speak of.

func TestSubsetAgreesWithLibrary(t *testing.T) { rapid.Check(t, subsetAgrees) }

func FuzzSubsetAgreesWithLibrary(f *testing.F) { f.Fuzz(rapid.MakeFuzz(subsetAgrees)) }

func subsetAgrees(t *rapid.T) {
	doc := drawSchema(t, 3)
	if m, ok := doc.(map[string]any); ok {
		m["$schema"] = rapid.SampledFrom([]string{
			"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
			"http://json-schema.org/draft-07/schema#",
		}).Draw(t, "draft")
		m["$defs"] = map[string]any{"a": drawSchema(t, 2), "b": drawSchema(t, 1)}
	}
	src, _ := json.Marshal(doc)
	s, err := FromValue("drawn", doc)
	if err != nil {
		t.Skipf("%s: %v", src, err) // it refers to itself without end, or its default is not of its type
	}
	if err := s.Verify(); err != nil {
		t.Fatalf("%s: compiled, but the library says %v", src, err)
	}
	if !s.compiled.covered {
		t.Fatalf("%s: not covered", src)
	}
	for range 5 {
		c := conformer{}
		value := c.normalise(drawValue(t, 3))
		shown, _ := json.Marshal(value)
		ours := checker{left: maxSteps}
		ours.check(s.compiled.root, value)
		if diff := cmp.Diff(sorted(s.compiled.consult(value)), sorted(ours.findings)); diff != "" {
			t.Fatalf("%s\njudges %s (-library +own checker):\n%s", src, shown, diff)
		}
	}
}

func sorted(all []Violation) []string {
	words := make([]string, 0, len(all))
	for _, v := range all {
		words = append(words, v.String())
	}
	slices.Sort(words)
	return slices.Compact(words)
}

var drawnNames = []string{"a", "b", "a/b", "é~ %"}

func drawSchema(t *rapid.T, depth int) any {
	if rapid.IntRange(0, 9).Draw(t, "boolean") == 0 {
		return rapid.Bool().Draw(t, "schema")
	}
	s := map[string]any{}
	put := func(keyword string, value func() any) {
		if rapid.IntRange(0, 4).Draw(t, keyword) == 0 {
			s[keyword] = value()
		}
	}
	sub := func() any { return drawSchema(t, depth-1) }
	count := func() any { return rapid.IntRange(0, 3).Draw(t, "count") }
	bound := func() any { return drawNumber(t) }
	kind := rapid.SampledFrom([]any{"null", "boolean", "integer", "number", "string", "array", "object"})
	put("type", func() any {
		if rapid.Bool().Draw(t, "one") {
			return kind.Draw(t, "type")
		}
		return rapid.SliceOfNDistinct(kind, 1, 3, rapid.ID).Draw(t, "types")
	})
	put("const", func() any { return drawValue(t, 1) })
	put("enum", func() any {
		values := []any{drawValue(t, 1)}
		for range 2 {
			v := drawValue(t, 1)
			c := conformer{}
			if !slices.ContainsFunc(values, func(w any) bool { return equal(c.normalise(v), c.normalise(w)) }) {
				values = append(values, v)
			}
		}
		return values
	})
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		put(keyword, bound)
	}
	for _, keyword := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
		put(keyword, count)
	}
	put("pattern", func() any { return rapid.SampledFrom([]string{"^a", "é", "^$", "[0-9]+"}).Draw(t, "pattern") })
	put("format", func() any { return rapid.SampledFrom(slices.Sorted(maps.Keys(formats))).Draw(t, "format") })
	put("required", func() any {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom(drawnNames), 1, 2, rapid.ID).Draw(t, "names")
		all := make([]any, len(names))
		for i, name := range names {
			all[i] = name
		}
		return all
	})
	put("description", func() any { return "words" })
	if depth > 0 {
		put("items", sub)
		put("additionalProperties", sub)
		put("properties", func() any {
			fields := map[string]any{}
			for _, name := range drawnNames {
				if rapid.Bool().Draw(t, "field") {
					fields[name] = sub()
				}
			}
			return fields
		})
		put("allOf", func() any { return []any{sub(), sub()} })
		put("$ref", func() any { return rapid.SampledFrom([]string{"#/$defs/a", "#/$defs/b"}).Draw(t, "ref") })
	}
	return s
}

func drawNumber(t *rapid.T) any {
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(-3, 3), func(i int) any { return i }),
		rapid.Map(rapid.Float64Range(-3, 3), func(f float64) any { return f }),
		rapid.SampledFrom([]any{0.1, 1e300, 1 << 53, -1e-300, json.Number("2.0"), json.Number("1e0")}),
	).Draw(t, "number")
}

func drawValue(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case n == 0:
		return nil
	case n == 1:
		return rapid.Bool().Draw(t, "flag")
	case n < 4:
		return drawNumber(t)
	case n < 6 || depth == 0:
		return rapid.SampledFrom([]string{"", "a", "ab", "é", "12", "5m", "-5m", "2026-11-20"}).Draw(t, "text")
	case n < 8:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for _, name := range drawnNames {
		if rapid.Bool().Draw(t, "present") {
			object[name] = drawValue(t, depth-1)
		}
	}
	return object
}

// Everything beyond those keywords is the library's, wherever it stands, but not where it cannot be reached.
func TestCovers(t *testing.T) {
	tests := []struct {
		schema string
		want   bool
	}{
		{`{}`, true},
		{`true`, true},
		{`{"properties": {"a": {"items": {"$ref": "#"}}}}`, true},
		{`{"properties": {"a": {"items": {"format": "date"}}}}`, false},
		{`{"properties": {"a": {"format": "date-time"}, "b": {"format": "go-duration"}}}`, true},
		{`{"allOf": [{"not": {}}]}`, false},
		{`{"additionalProperties": {"uniqueItems": true}}`, false},
		{`{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [true]}}}`, false},
		{`{"$defs": {"a": {"anyOf": [true]}}}`, true},
		{`{"propertis": {}}`, true},
		{`{"contentEncoding": "base64", "contentMediaType": "application/json", "contentSchema": {"not": {}}}`, true},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]}`, false},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "format": "date", "definitions": {"a": {}}}`, true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.schema), func(t *testing.T) {
			s, err := Compile("test", []byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			if s.compiled.covered != tt.want {
				t.Errorf("covered = %v, want %v", s.compiled.covered, tt.want)
			}
			if err := s.Verify(); err != nil {
				t.Error(err)
			}
		})
	}
}

// keywordOf searches by halves.
func TestKeywordsAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(keywords[:], func(a, b keyword) int {
		if a.name < b.name {
			return -1
		}
		return 1
	}) {
		t.Error("the table of keywords is not sorted by name, or holds a name twice")
	}
}
