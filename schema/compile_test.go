package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

func TestCompileErrors(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"blank", " ", "s.json:1:1: not a JSON document: the document is blank, expected a JSON value such as {}"},
		{"broken", "{\n  \"type\": }", "s.json:2:11: not a JSON document: unexpected '}'"},
		{"no schema", `[]`, "s.json:1:1: expected a schema, which is an object, got an array of 0"},
		{"a type that is none", "{\"properties\": {\n \"a\": {\"type\": \"int\"}}}",
			`s.json:2:16: expected a type: array, boolean, integer, null, number, object or string; got "int"; did you mean "integer"? (at /properties/a/type)`},
		{"nearly a type", `{"type": ["null", "strin"]}`,
			`s.json:1:19: expected a type: array, boolean, integer, null, number, object or string; got "strin"; did you mean "string"? (at /type/1)`},
		{"the first of many", `{"b": 1, "required": ["x", 3], "minLength": -1, "enum": []}`,
			"s.json:1:28: expected a name, which is a string, got 3 (at /required/1)"},
		{"twice required", `{"required": ["x", "x"]}`, `s.json:1:20: "x" is in the list twice (at /required/1)`},
		{"properties as a list", `{"properties": ["a"]}`, "s.json:1:16: expected an object, got an array of 1 (at /properties)"},
		{"items as a list", `{"items": [{}]}`, "s.json:1:11: expected a schema, which is an object, got an array of 1 (at /items)"},
		{"no alternatives", `{"anyOf": []}`, "s.json:1:11: expected an array of at least one schema, got an array of 0 (at /anyOf)"},
		{"a bound as text", `{"minimum": "0"}`, `s.json:1:13: expected a number, got "0" (at /minimum)`},
		{"half a character", `{"maxLength": 1.5}`, "s.json:1:15: expected a whole number from 0, got 1.5 (at /maxLength)"},
		{"multiples of nothing", `{"multipleOf": 0}`, "s.json:1:16: expected a number greater than 0, got 0 (at /multipleOf)"},
		{"a number that no computer holds", `{"minimum": 1e5000000}`, `s.json:1:13: the number "1e5000000" is too big (at /minimum)`},
		{"lookahead", `{"pattern": "(?!x)"}`,
			"s.json:1:13: expected a regular expression in RE2 syntax, without lookarounds and backreferences: invalid or unsupported Perl syntax: `(?!` (at /pattern)"},
		{"a default of a wrong type", `{"properties": {"a": {"type": "integer", "default": "none"}}}`,
			`s.json:1:53: the default is "none", expected integer (at /properties/a/default)`},
		{"a wrong type inside a default", `{"items": {"type": "boolean"}, "default": [true, 3]}`,
			"s.json:1:50: the field of the default is 3, expected boolean (at /default/1)"},
		{"a default without a required field", `{"required": ["a"], "default": {}}`,
			"s.json:1:32: the field of the default is required but missing (at /default/a)"},

		{"the network", `{"$ref": "https://example.com/schema.json"}`,
			`s.json:1:10: nothing is loaded: expected a reference within this document, such as "#/$defs/name", got "https://example.com/schema.json" (at /$ref)`},
		{"a file", `{"items": {"$ref": "file:///etc/passwd"}}`,
			`s.json:1:20: nothing is loaded: expected a reference within this document, such as "#/$defs/name", got "file:///etc/passwd" (at /items/$ref)`},
		{"a neighbour", `{"$ref": "other.json#/a"}`,
			`s.json:1:10: nothing is loaded: expected a reference within this document, such as "#/$defs/name", got "other.json#/a" (at /$ref)`},
		{"an anchor", `{"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}`, `s.json:1:10: expected "#" or "#/" and a JSON pointer, got "#here" (at /$ref)`},
		{"nowhere", `{"$ref": "#/$defs/b", "$defs": {"a": {}}}`, `s.json:1:10: there is no schema at "#/$defs/b" in this document (at /$ref)`},
		{"what is no schema", `{"$ref": "#/required", "required": ["a"]}`, `s.json:1:10: there is no schema at "#/required" in this document (at /$ref)`},
		{"itself", `{"$ref": "#"}`, "s.json:1:1: the schema refers to itself without end"},
		{"each other", `{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}`,
			"s.json:1:17: the schema refers to itself without end (at /$defs/a)"},
		{"a nested id", `{"$defs": {"a": {"$id": "x", "items": {"$ref": "#"}}}}`,
			"s.json:1:25: a nested $id is not supported, remove it: references are resolved from the root (at /$defs/a/$id)"},
		{"an unknown draft", `{"$schema": "http://json-schema.org/draft-08/schema#"}`,
			`s.json:1:13: expected "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema" or "http://json-schema.org/draft-07/schema#", got "http://json-schema.org/draft-08/schema#" (at /$schema)`},
		{"an old draft", `{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true}`,
			`s.json:1:13: expected "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema" or "http://json-schema.org/draft-07/schema#", got "http://json-schema.org/draft-04/schema#" (at /$schema)`},
		{"a metaschema", `{"$ref": "http://json-schema.org/draft-07/schema#"}`,
			`s.json:1:10: nothing is loaded: expected a reference within this document, such as "#/$defs/name", got "http://json-schema.org/draft-07/schema#" (at /$ref)`},
		{"a dynamic reference", `{"$dynamicRef": "#"}`, "s.json:1:17: $dynamicRef is not supported: remove it (at /$dynamicRef)"},
		{"text as a flag", `{"uniqueItems": "yes"}`, `s.json:1:17: expected true or false, got "yes" (at /uniqueItems)`},
		{"text as a list", `{"enum": "a"}`, `s.json:1:10: expected an array, got "a" (at /enum)`},
		{"a list as text", `{"description": ["a"]}`, "s.json:1:17: expected a string, got an array of 1 (at /description)"},
		{"a name as names", `{"required": "a"}`, `s.json:1:14: expected an array of names, got "a" (at /required)`},
		{"a type twice", `{"type": ["null", "null"]}`, `s.json:1:19: "null" is in the list twice (at /type/1)`},
		{"an element that is not there", `{"$ref": "#/allOf/2", "allOf": [{}, {}]}`, `s.json:1:10: there is no schema at "#/allOf/2" in this document (at /$ref)`},
		{"a part of a text", `{"$ref": "#/title/2", "title": "x"}`, `s.json:1:10: there is no schema at "#/title/2" in this document (at /$ref)`},
		{"too long", `{"description": "` + strings.Repeat("x", schema.MaxSchemaSize) + `"}`,
			"s.json:1:1: not a JSON document: the document has 262163 bytes, more than the 262144 that are read"},
		{"too deep", strings.Repeat(`{"items":`, 1001),
			"s.json:1:9001: not a JSON document: arrays and objects are nested deeper than 1000 levels"},
		{"an avalanche of types", chain(50, `{"properties": {"a": {"$ref": "#/$defs/%[1]d"}, "b": {"$ref": "#/$defs/%[1]d"}}, "anyOf": [{"properties": {"a": {"$ref": "#/$defs/%[1]d"}, "b": {"$ref": "#/$defs/%[1]d"}}}]}`),
			"s.json:1:1: the schema is too big: it combines too many schemas"},
		{"an avalanche of defaults", chain(20, `{"default": {}, "properties": {"a": {"$ref": "#/$defs/%[1]d"}, "b": {"$ref": "#/$defs/%[1]d"}}}`),
			"s.json:1:614: the default is too big, with the defaults inside (at /$defs/6/default)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Compile("s.json", []byte(tt.schema))
			if err == nil {
				t.Fatal("compiled")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if failed := (*schema.CompileError)(nil); !errors.As(err, &failed) || failed.Name != "s.json" {
				t.Errorf("error is %#v, want a *CompileError of s.json", err)
			}
		})
	}
}

// chain makes n definitions that are written alike, each of which refers to the next by its number; the last is anything.
func chain(n int, format string) string {
	defs := make([]string, n)
	for i := range defs {
		defs[i] = fmt.Sprintf(`"%d": `, i) + fmt.Sprintf(format, i+1)
	}
	return fmt.Sprintf(`{"$ref": "#/$defs/0", "$defs": {%s, "%d": {}}}`, strings.Join(defs, ", "), n)
}

func TestUnknownWords(t *testing.T) {
	s := mustCompile(t, `{
  "propertis": {},
  "properties": {"type": {"format": "datetime"}, "propertis": {"typ": "integer", "x-note": 1, "zzz": 2, "id": 3}}
}`)
	want := []string{
		`2:16: /propertis: unknown keyword "propertis", it has no effect; did you mean "properties"?`,
		`3:37: /properties/type/format: unknown format "datetime", it is not checked; did you mean "date-time"?`,
		`3:71: /properties/propertis/typ: unknown keyword "typ", it has no effect; did you mean "type"?`,
		`3:102: /properties/propertis/zzz: unknown keyword "zzz", it has no effect`,
		`3:111: /properties/propertis/id: unknown keyword "id", it has no effect; did you mean "$id"?`,
	}
	if diff := cmp.Diff(want, lines(s.Unknown())); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

// A schema may come from YAML, whose numbers are of Go's types. It is the same schema.
func TestFromValue(t *testing.T) {
	value := map[string]any{
		"properties": map[string]any{
			"n": map[string]any{"type": "integer", "minimum": int64(1), "maximum": uint64(1 << 60), "default": 2.0, "enum": []any{1, 2.0, json.Number("3")}},
		},
	}
	s, err := schema.FromValue("inline", value)
	if err != nil {
		t.Fatal(err)
	}
	one, most := 1.0, float64(1<<60)
	want := &schema.Schema{Kind: schema.Int, Default: 2, HasDefault: true, Min: &one, Max: &most, Enum: []any{1, 2, 3}}
	if diff := cmp.Diff(want, s.At("n"), schema.Types); diff != "" {
		t.Errorf("type of n (-want +got):\n%s", diff)
	}
	if s.Name() != "inline" {
		t.Errorf("name is %q", s.Name())
	}
	for _, tt := range []struct {
		value any
		want  string
	}{
		{nil, "inline: expected a schema, which is an object, got null"},
		{"text", `inline: expected a schema, which is an object, got "text"`},
		{map[string]any{"default": struct{}{}}, "inline: expected a JSON value, got {} of Go's type struct {} (at /default)"},
		{map[string]any{"const": "\xff"}, `inline: expected string in UTF-8, got "\xff" (at /const)`},
		{map[string]any{"properties": map[string]any{"\xff": true}}, `inline: expected keys in UTF-8, got "\xff" (at /properties)`},
		{map[string]any{"items": map[string]any{"type": 3}},
			"inline: expected a type: array, boolean, integer, null, number, object or string; got 3 (at /items/type)"},
	} {
		_, err := schema.FromValue("inline", tt.value)
		if err == nil || err.Error() != tt.want {
			t.Errorf("FromValue(%v): error %v, want %s", tt.value, err, tt.want)
		}
	}
	loop := map[string]any{}
	loop["items"] = loop
	if _, err := schema.FromValue("inline", loop); err == nil {
		t.Error("a value that contains itself was compiled")
	}
}

func TestConcurrentUse(t *testing.T) {
	for _, src := range []string{`{"properties": {"a": {"minimum": 1}}}`, `{"properties": {"a": {"minimum": 1}}, "minProperties": 1, "not": {}}`} {
		s, err := schema.Compile("s.json", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		doc := mustParse(t, `{"a": 0}`)
		results := make([]schema.Result, 8)
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() { results[i] = s.Check(doc) })
		}
		all.Wait()
		for _, r := range results[1:] {
			if diff := cmp.Diff(results[0], r); diff != "" {
				t.Errorf("two results differ:\n%s", diff)
			}
		}
	}
}
