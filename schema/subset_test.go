package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"pgregory.net/rapid"
)

// The library of the reference implementation and the checker judge the same values: schemas are drawn from all
// keywords, and values from those that the schemas name.

func TestCheckerAgreesWithLibrary(t *testing.T) { rapid.Check(t, agrees) }

func FuzzCheckerAgreesWithLibrary(f *testing.F) { f.Fuzz(rapid.MakeFuzz(agrees)) }

func agrees(t *rapid.T) {
	doc := drawSchema(t, 3)
	if m, ok := doc.(map[string]any); ok {
		m["$defs"] = map[string]any{"a": drawSchema(t, 2), "b": drawSchema(t, 1)}
	}
	src, _ := json.Marshal(doc)
	s, err := FromValue("drawn", doc)
	if err != nil {
		t.Skipf("%s: %v", src, err) // it refers to itself without end, or its default is not of its type
	}
	library := jsonschema.NewCompiler()
	library.AssertFormat = true
	for name, f := range formats {
		library.Formats[name] = func(v any) bool {
			text, ok := v.(string)
			return !ok || f.accepts(text)
		}
	}
	if err := library.AddResource("mem:///schema.json", bytes.NewReader(src)); err != nil {
		t.Fatal(err)
	}
	want, err := library.Compile("mem:///schema.json")
	if err != nil {
		t.Fatalf("%s: compiled, but the library says %v", src, err)
	}
	for range 5 {
		value := normalised(drawValue(t, 3))
		var c checker
		if refused := within(func() { c.check(s.compiled.root, value) }); refused != "" {
			t.Fatalf("%s: %s", src, refused)
		}
		shown, _ := json.Marshal(value)
		if err := want.Validate(value); (err == nil) != (len(c.findings) == 0) {
			t.Fatalf("%s\njudges %s: the library says %v, the checker %v", src, shown, err, c.findings)
		}
	}
}

func normalised(v any) any {
	v, _ = new(conformer).conform(&Schema{}, v)
	return v
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
			if !slices.ContainsFunc(values, func(w any) bool { return reflect.DeepEqual(normalised(v), normalised(w)) }) {
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
		for _, keyword := range []string{"items", "not", "if", "then", "else", "contains", "propertyNames"} {
			put(keyword, sub)
		}
		for _, keyword := range []string{"anyOf", "oneOf", "prefixItems"} {
			put(keyword, func() any { return []any{sub(), sub()} })
		}
		put("uniqueItems", func() any { return rapid.Bool().Draw(t, "unique") })
		put("multipleOf", func() any { return rapid.SampledFrom([]any{0.1, 0.5, 2, 1e-300}).Draw(t, "divisor") })
		put("minContains", count)
		put("maxContains", count)
		put("patternProperties", func() any { return map[string]any{"^a": sub(), "é": sub()} })
		put("dependentRequired", func() any { return map[string]any{"a": []any{"b"}} })
		put("dependentSchemas", func() any { return map[string]any{"b": sub()} })
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
