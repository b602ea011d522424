package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

func TestTypeInWords(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`{}`, "anything"},
		{`true`, "anything"},
		{`{"type": "string"}`, "string"},
		{`{"type": "integer"}`, "integer"},
		{`{"type": "number"}`, "number"},
		{`{"type": ["integer", "number"]}`, "number"},
		{`{"type": "boolean"}`, "boolean"},
		{`{"type": "null"}`, "null"},
		{`{"type": "object"}`, "object"},
		{`{"properties": {}}`, "object"},
		{`{"required": ["a"]}`, "object"},
		{`{"additionalProperties": {}}`, "object"},
		{`{"type": "array"}`, "array"},
		{`{"items": {"type": "integer"}}`, "array of integer"},
		{`{"items": {"type": ["string", "null"]}}`, "array of string or null"},
		{`{"items": {"enum": ["a", "b"]}}`, `array of ("a" | "b")`},
		{`{"items": {}}`, "array"},
		{`{"enum": ["a", "b"]}`, `"a" | "b"`},
		{`{"enum": [1, 2.0, 2.5]}`, "1 | 2 | 2.5"},
		{`{"enum": ["a", null]}`, `"a" | null`},
		{`{"enum": ["a", 1], "type": "string"}`, `"a"`},
		{`{"const": "a"}`, `"a"`},
		{`{"type": ["string", "null"]}`, "string or null"},
		{`{"type": ["array", "string"]}`, "string or array"},
		{`{"type": ["array", "string", "null"]}`, "string or array or null"},
		{`{"anyOf": [{"type": "string"}, {"type": "null"}]}`, "string or null"},
		{`{"oneOf": [{"type": "null"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "integer"}}}`, "integer or null"},
		{`{"anyOf": [{"type": "string"}, {"type": "integer"}]}`, "anything"},
		{`{"type": "string", "anyOf": [{"minLength": 1}, {"pattern": "x"}]}`, "string"},
		{`{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}`, "string"},
		{`{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "integer"}}}`, "integer"},
		{`{"allOf": [{"minLength": 1}, {"type": "string"}]}`, "string"},
		{`{"type": "number", "allOf": [{"type": ["integer", "string"]}]}`, "number"},
		{`{"allOf": [{"type": "number"}, {"type": "integer"}]}`, "anything"},
	}
	for _, tt := range tests {
		t.Run(tt.schema, func(t *testing.T) {
			if got := mustCompile(t, tt.schema).String(); got != tt.want {
				t.Errorf("type is %s, want %s", got, tt.want)
			}
		})
	}
	if got := (*schema.Schema)(nil).String(); got != "anything" {
		t.Errorf("no type is %s, want anything", got)
	}
}

func TestType(t *testing.T) {
	bound := func(f float64) *float64 { return &f }
	tests := []struct {
		name, schema string
		want         *schema.Schema
	}{
		{"optional, required, defaulted, and required without a declaration",
			`{"properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string", "default": "x"}}, "required": ["b", "d"]}`,
			&schema.Schema{Kind: schema.Object, Open: true, Fields: map[string]*schema.Schema{
				"a": {Kind: schema.String, Optional: true},
				"b": {Kind: schema.String},
				"c": {Kind: schema.String, Default: "x", HasDefault: true},
				"d": {},
			}}},
		{"closed", `{"properties": {}, "additionalProperties": false}`,
			&schema.Schema{Kind: schema.Object, Fields: map[string]*schema.Schema{}}},
		{"others have a type", `{"additionalProperties": {"type": "boolean"}, "required": ["a"]}`,
			&schema.Schema{Kind: schema.Object, Open: true, Extra: &schema.Schema{Kind: schema.Bool},
				Fields: map[string]*schema.Schema{"a": {Kind: schema.Bool}}}},
		{"bounds of integers are inclusive", `{"type": "integer", "exclusiveMinimum": 0, "minimum": -5, "maximum": 9.5}`,
			&schema.Schema{Kind: schema.Int, Min: bound(1), Max: bound(9)}},
		{"bounds of numbers are as they are", `{"type": "number", "exclusiveMaximum": 0.5}`,
			&schema.Schema{Kind: schema.Number, Max: bound(0.5)}},
		{"a default outside the enum", `{"enum": ["a"], "default": ""}`,
			&schema.Schema{Kind: schema.String, Enum: []any{"a"}, Default: "", HasDefault: true}},
		{"a default of null is none", `{"type": "string", "default": null}`, &schema.Schema{Kind: schema.String}},
		{"a default is read and completed", `{"default": {"n": "7"}, "properties": {"n": {"type": "integer"}, "l": {"default": [], "type": "array"}}}`,
			&schema.Schema{Kind: schema.Object, Open: true, Default: map[string]any{"n": 7, "l": []any{}}, HasDefault: true,
				Fields: map[string]*schema.Schema{
					"n": {Kind: schema.Int, Optional: true},
					"l": {Kind: schema.Array, Default: []any{}, HasDefault: true},
				}}},
		{"beside a reference", `{"$ref": "#/$defs/a", "description": "here", "default": 2, "$defs": {"a": {"type": "integer", "description": "there", "default": 1}}}`,
			&schema.Schema{Kind: schema.Int, Doc: "here", Default: 2, HasDefault: true}},
		{"beside a reference in draft 7",
			`{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "type": "string", "default": 2, "definitions": {"a": {"type": "integer"}}}`,
			&schema.Schema{Kind: schema.Int, Default: 2, HasDefault: true}},
		{"alternatives that declare nothing else",
			`{"properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
			  "if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "allOf": [{"required": ["a"]}]}`,
			&schema.Schema{Kind: schema.Object, Open: true, Fields: map[string]*schema.Schema{
				"a": {Kind: schema.Int, Optional: true}, "b": {Kind: schema.String, Optional: true}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustCompile(t, tt.schema)
			if diff := cmp.Diff(tt.want, s, schema.Types); diff != "" {
				t.Errorf("type (-want +got):\n%s", diff)
			}
			if s.Widened() != nil {
				t.Errorf("widened: %v", s.Widened())
			}
		})
	}
}

// What cannot be typed is reported, and its values are still checked as far as possible.
func TestWidened(t *testing.T) {
	tests := []struct {
		name, schema string
		want         *schema.Schema
		widened      []schema.Widening
	}{
		{"alternatives", `{"anyOf": [{"type": "string"}, {"type": "integer"}]}`,
			&schema.Schema{}, []schema.Widening{{"/anyOf", "anyOf allows different types"}}},
		{"a condition", `{"if": {"type": "string"}, "then": {"minLength": 1}}`,
			&schema.Schema{}, []schema.Widening{{"/if", "if allows different types"}}},
		{"patterns alone", `{"type": "object", "patternProperties": {"^x": {"type": "integer"}}}`,
			&schema.Schema{Kinds: []schema.Kind{schema.Object}},
			[]schema.Widening{{"/patternProperties", "fields whose names match a pattern are not typed"}}},
		{"patterns beside fields", `{"properties": {"a": {"type": "integer"}}, "patternProperties": {"^x": {}}}`,
			&schema.Schema{Kind: schema.Object, Open: true, Fields: map[string]*schema.Schema{"a": {Kind: schema.Int, Optional: true}}},
			[]schema.Widening{{"/patternProperties", "fields whose names match a pattern are not typed"}}},
		{"fields under a condition", `{"properties": {"a": {}}, "oneOf": [{"required": ["a"]}, {"properties": {"b": {}}}]}`,
			&schema.Schema{Kinds: []schema.Kind{schema.Object}}, []schema.Widening{{"/oneOf", "oneOf allows different types"}}},
		{"fields of a field under a condition", `{"properties": {"a": {"properties": {"x": {}}}}, "anyOf": [{"properties": {"a": {"properties": {"y": {}}}}}]}`,
			&schema.Schema{Kinds: []schema.Kind{schema.Object}}, []schema.Widening{{"/anyOf", "anyOf allows different types"}}},
		{"a default under a condition", `{"properties": {"a": {}}, "allOf": [{"properties": {"a": {"default": 1}}}]}`,
			&schema.Schema{Kinds: []schema.Kind{schema.Object}}, []schema.Widening{{"/allOf", "allOf allows different types"}}},
		{"a tree", `{"properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}}}`,
			&schema.Schema{Kind: schema.Object, Open: true, Fields: map[string]*schema.Schema{
				"name":     {Kind: schema.String, Optional: true},
				"children": {Kind: schema.Array, Elem: &schema.Schema{}, Optional: true},
			}},
			[]schema.Widening{{"", "the schema contains itself, so from the second level on its type is not followed"}}},
		{"fields beside a reference", `{"properties": {"a": {}}, "$ref": "#/$defs/b", "$defs": {"b": {"properties": {"b": {}}}}}`,
			&schema.Schema{Kinds: []schema.Kind{schema.Object}}, []schema.Widening{{"/$ref", "$ref allows different types"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustCompile(t, tt.schema)
			if diff := cmp.Diff(tt.want, s, schema.Types); diff != "" {
				t.Errorf("type (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.widened, s.Widened()); diff != "" {
				t.Errorf("widened (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTypeAt(t *testing.T) {
	typ := mustCompile(t, `{"properties": {
		"specs":  {"type": "array", "items": {"properties": {"status": {"enum": ["pending", "done"]}}}},
		"loose":  {"type": "array"},
		"counts": {"additionalProperties": {"type": "integer"}},
		"any":    {},
		"text":   {"type": "string"}
	}}`)
	tests := []struct {
		path []string
		want string // "" if there is no such field
	}{
		{nil, "object"},
		{[]string{"specs"}, "array of object"},
		{[]string{"specs", "*", "status"}, `"pending" | "done"`},
		{[]string{"specs", "12", "status"}, `"pending" | "done"`},
		{[]string{"specs", "status"}, ""},
		{[]string{"specs", "*", "state"}, ""},
		{[]string{"loose", "0"}, "anything"},
		{[]string{"loose", "x"}, ""},
		{[]string{"counts", "whatever"}, "integer"},
		{[]string{"any"}, "anything"},
		{[]string{"any", "x"}, ""},
		{[]string{"text", "x"}, ""},
		{[]string{"absent"}, ""},
		{[]string{"absent", "x"}, ""},
	}
	for _, tt := range tests {
		got := ""
		if at := typ.At(tt.path...); at != nil {
			got = at.String()
		}
		if got != tt.want {
			t.Errorf("At(%q) is %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestPointers(t *testing.T) {
	tests := []struct {
		path     []any
		pointer  string
		segments []string
	}{
		{nil, "", nil},
		{[]any{"a", 0}, "/a/0", []string{"a", "0"}},
		{[]any{"a/b", "~", "~1", ""}, "/a~1b/~0/~01/", []string{"a/b", "~", "~1", ""}},
		{[]any{"é %", true}, "/é %/true", []string{"é %", "true"}},
	}
	for _, tt := range tests {
		if got := schema.PointerOf(tt.path); got != tt.pointer {
			t.Errorf("PointerOf(%q) = %q, want %q", tt.path, got, tt.pointer)
		}
		if diff := cmp.Diff(tt.segments, schema.SplitPointer(tt.pointer)); diff != "" {
			t.Errorf("SplitPointer(%q) (-want +got):\n%s", tt.pointer, diff)
		}
	}
}

// What is not said has the zero value of its type.
func TestZero(t *testing.T) {
	for kind, want := range map[schema.Kind]any{schema.String: "", schema.Bool: false, schema.Int: 0, schema.Array: []any{}, schema.Object: nil, schema.Any: nil} {
		if diff := cmp.Diff(want, (&schema.Schema{Kind: kind}).Zero()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	if got := (*schema.Schema)(nil).Zero(); got != nil {
		t.Errorf("of no type: %v", got)
	}
}
