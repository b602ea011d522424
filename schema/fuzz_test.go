package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

// FuzzParseJSON holds ParseJSON against encoding/json: both accept the same documents, with the same values, and each value
// is found where its position says.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		"", " \n", "{}", "[]", "null", `"a"`, "1e5000000", "\xef\xbb\xbf{}", "\xef\xbb\xbf\xef\xbb\xbf{}", "{} {}", "{}}", "1 2", "12abc",
		`{"a": [1, {"b": "é\"]"}], "a/b": -0.5e-1, "~": {}}`, `{"a": 1, "a": [2], "a": {"b": 3}}`, "{\"\\u0061\": 1,\r\n\"\xff\": 2}",
		`{"a": 1,}`, `{'a': 1}`, "// x", "[1, 2", `"a`, "\"a\nb\"", "[01]", "nul", "\x00", strings.Repeat("[", 1001),
		strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000), `["[[[[", "\\", "\"["]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		j, err := schema.ParseJSON(src)
		body := bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
		want := json.Valid(body) && deepest(body) <= schema.MaxDepth
		if (err == nil) != want {
			t.Fatalf("ParseJSON(%q): error %v, encoding/json says valid: %v", src, err, json.Valid(body))
		}
		if err != nil {
			syntax := (*schema.SyntaxError)(nil)
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Col < 1 || syntax.Message == "" || offset(body, syntax.Line, syntax.Col) > len(body) {
				t.Fatalf("ParseJSON(%q): error %#v, want a *SyntaxError with a place in the document", src, err)
			}
			return
		}
		doc := j
		if diff := cmp.Diff(decode(t, body), doc.Value); diff != "" {
			t.Fatalf("ParseJSON(%q) (-encoding/json +ours):\n%s", src, diff)
		}
		budget := 50
		places(doc.Value, nil, &budget, func(path []any, v any) {
			line, col := doc.Position(schema.PointerOf(path))
			at := offset(body, line, col)
			if line == 0 || at >= len(body) {
				t.Fatalf("%q: no position of %v", src, path)
			}
			if got := decode(t, body[at:]); !reflect.DeepEqual(got, v) {
				t.Fatalf("%q: at %d:%d stands %v, want %v of %v", src, line, col, got, v, path)
			}
		})
	})
}

// decode reads the first value in src.
func decode(t *testing.T, src []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("no JSON value at the start of %q: %v", src, err)
	}
	return v
}

// deepest counts the levels of a valid document.
func deepest(src []byte) int {
	depth, most := 0, 0
	dec := json.NewDecoder(bytes.NewReader(src))
	for {
		token, err := dec.Token()
		if err != nil {
			return most
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
			most = max(most, depth)
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
}

// offset is the inverse of a position.
func offset(src []byte, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(src[at:], '\n') + 1
	}
	for ; col > 1; col-- {
		_, size := utf8.DecodeRune(src[at:])
		at += size
	}
	return at
}

func places(v any, path []any, budget *int, yield func([]any, any)) {
	if *budget--; *budget < 0 {
		return
	}
	yield(path, v)
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			places(item, append(path[:len(path):len(path)], key), budget, yield)
		}
	case []any:
		for i, item := range v {
			places(item, append(path[:len(path):len(path)], i), budget, yield)
		}
	}
}

// schemas for the fuzz targets below: every keyword, and ways to write it wrongly.
var fuzzSchemas = []string{
	`{}`, `true`, `false`, `[]`, `null`, `{"type": "object"}`, `{"type": []}`, `{"type": ["null", "integer"], "default": null}`,
	`{"properties": {"a": {"type": "integer", "default": "2"}, "b": {"enum": ["x", null]}}, "required": ["a", "c"]}`,
	`{"type": "array", "items": {"type": "boolean"}, "default": ["true"]}`,
	`{"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#"}, "type": ["array", "string"]}}}`,
	`{"$ref": "#"}`, `{"$ref": "http://example.com"}`, `{"$ref": "file:///etc/passwd"}`, `{"$ref": "#/a~1b", "a/b": {"type": "string"}}`,
	`{"$ref": "https://json-schema.org/draft/2020-12/schema"}`, `{"$ref": "#/properties", "properties": {"type": {}}}`,
	`{"allOf": [{"properties": {"a": {"type": "number"}}}, {"required": ["a"]}], "additionalProperties": {"type": "string"}}`,
	`{"anyOf": [{"type": "string"}, {"type": "null"}]}`, `{"oneOf": [{"minimum": 1}, {"maximum": 2}], "type": "number", "multipleOf": 0.5}`,
	`{"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": false}`, `{"not": {"type": "array"}}`,
	`{"patternProperties": {"^x": {"type": "integer"}}, "propertyNames": {"maxLength": 2}}`, `{"pattern": "(?!x)"}`, `{"pattern": "^a+$"}`,
	`{"contains": {"const": 1}, "minContains": 2, "prefixItems": [{}, false], "uniqueItems": true}`, `{"minimum": 1e400}`, `{"maxLength": -1}`,
	`{"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"minProperties": 2}}, "unevaluatedProperties": false}`,
	`{"format": "date-time", "$id": "http://x/y", "$comment": "", "title": "", "examples": []}`, `{"$dynamicRef": "#x"}`, `{"$recursiveRef": "#"}`, `{"$dynamicRef": "#/$defs/a", "$defs": {"a": {}}}`,
	`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}`,
	`{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true, "id": "x"}`,
	`{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "items": {"$recursiveRef": "#"}}`,
	`{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}}`, `{"enum": []}`, `{"propertis": {}}`,
	`{"contentEncoding": "base64", "contentMediaType": "application/json", "contentSchema": {}}`, `{"$vocabulary": {}}`, `{"$anchor": "a"}`,
}

// FuzzCheck: no schema and no document makes Check panic, what it returns is of the schema's type, and reading it again
// changes nothing.
func FuzzCheck(f *testing.F) {
	docs := []string{`{"a": "1", "b": null, "c": [1.0, 1e400], "x": {"a": {}}}`, `[1, "true", null, [[]], {"a": 0.5}]`, `null`, `"12"`, `1e5000000`, `true`}
	for i, s := range fuzzSchemas {
		f.Add(s, docs[i%len(docs)])
		f.Add(s, docs[(i+1)%len(docs)])
	}
	f.Fuzz(func(t *testing.T, src, doc string) {
		s, err := schema.Compile("fuzz", []byte(src))
		if err != nil {
			if failed := (*schema.CompileError)(nil); !errors.As(err, &failed) || failed.Message == "" || failed.Line < 1 {
				t.Fatalf("Compile(%q): error %#v, want a *CompileError with a place", src, err)
			}
			return
		}
		j, err := schema.ParseJSON([]byte(doc))
		if err != nil {
			return
		}
		result := s.Check(j)
		unusable := make(map[string]bool)
		for _, v := range result.Unusable {
			unusable[v.Pointer] = true
		}
		if !unusable[""] {
			ofType(t, s, result.Value, "", unusable)
		}
		if diff := cmp.Diff(result, s.Check(j)); diff != "" {
			t.Fatalf("%s\nreads %s differently the second time (-first +second):\n%s", src, doc, diff)
		}
		if len(result.Unusable) > 0 {
			return
		}
		again := s.Check(schema.Document{Value: result.Value})
		if diff := cmp.Diff(result.Value, again.Value); diff != "" {
			t.Fatalf("%s\nreads %s, and of that (-first +again):\n%s", src, doc, diff)
		}
		if diff := cmp.Diff(result.Value, schema.Bare(s).Check(schema.Document{Value: j.Value}).Value); diff != "" && doc != "null" {
			t.Fatalf("%s\nreads %s, but by its type it is (-schema +type):\n%s", src, doc, diff)
		}
	})
}

// ofType fails the test if v, the value at a pointer, is not of type t and not known to be unusable.
func ofType(t *testing.T, typ *schema.Schema, v any, at string, unusable map[string]bool) {
	t.Helper()
	if typ == nil {
		typ = &schema.Schema{}
	}
	kinds := typ.Kinds
	if kinds == nil {
		kinds = []schema.Kind{typ.Kind}
	}
	ok := v == nil && (typ.Nullable || unusable[at])
	for _, k := range kinds {
		ok = ok || ofKind(k, v)
	}
	if !ok {
		t.Fatalf("%s: %#v is not of type %s", at, v, typ)
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			ofType(t, typ.Elem, item, at+schema.PointerOf([]any{i}), unusable)
		}
	case map[string]any:
		for name, field := range typ.Fields {
			item, present := v[name]
			pointer := at + schema.PointerOf([]any{name})
			switch {
			case present:
				ofType(t, field, item, pointer, unusable)
			case !field.Optional && !unusable[pointer]:
				t.Fatalf("%s is absent, but neither optional nor unusable", pointer)
			}
		}
		for name, item := range v {
			if typ.Fields[name] == nil {
				ofType(t, typ.Extra, item, at+schema.PointerOf([]any{name}), unusable)
			}
		}
	}
}

func ofKind(k schema.Kind, v any) bool {
	switch v := v.(type) {
	case nil:
		return k == schema.Null || k == schema.Any
	case bool:
		return k == schema.Bool || k == schema.Any
	case int:
		return (k == schema.Int || k == schema.Number || k == schema.Any) && -(1<<53) < v && v < 1<<53
	case float64:
		_, err := strconv.Atoi(strconv.FormatFloat(v, 'f', -1, 64))
		return (k == schema.Number || k == schema.Any) && err != nil
	case string:
		return k == schema.String || k == schema.Any
	case []any:
		return k == schema.Array || k == schema.Any
	case map[string]any:
		return k == schema.Object || k == schema.Any
	}
	return false
}
