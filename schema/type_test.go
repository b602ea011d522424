package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/schema"
)

func TestType(t *testing.T) {
	one, two := 1.0, 2.0
	text, whole := &schema.Type{Kind: "string"}, &schema.Type{Kind: "integer"}
	for _, c := range []struct {
		src  string
		want *schema.Type
	}{
		{`{}`, &schema.Type{}},
		{`{"type": "string"}`, text},
		{`{"type": ["string", "null"]}`, text},
		{`{"type": ["string", "integer"]}`, &schema.Type{}},
		{`{"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "string"}}}`, text},
		{`{"anyOf": [{"type": "integer"}, {"type": "string"}]}`, &schema.Type{}},
		{`{"enum": ["a", "b", null]}`, &schema.Type{Kind: "string", Enum: []any{"a", "b"}}},
		{`{"enum": ["a", 1.0]}`, &schema.Type{Enum: []any{"a", 1}}},
		{`{"const": "a"}`, &schema.Type{Kind: "string", Enum: []any{"a"}}},
		{`{"type": "number", "allOf": [{"type": "integer", "minimum": 1, "maximum": 2.0}]}`, &schema.Type{Kind: "integer", Minimum: &one, Maximum: &two}},
		{`{"type": "string", "examples": ["a"], "default": ""}`, &schema.Type{Kind: "string", Examples: []any{"a"}, Default: "", HasDefault: true}},
		{`{"default": null}`, &schema.Type{}},
		{`{"properties": {"a": {"type": "string"}}}`, &schema.Type{Kind: "object", Properties: map[string]*schema.Type{"a": text}}},
		{`{"additionalProperties": false, "type": "object"}`, &schema.Type{Kind: "object", Closed: true}},
		{`{"additionalProperties": {"type": "integer"}, "type": "object"}`, &schema.Type{Kind: "object", Extra: whole}},
		{`{"patternProperties": {"^a": {"type": "integer"}}, "type": "object"}`, &schema.Type{Kind: "object", Extra: &schema.Type{}}},
		{`{"items": {"type": "integer"}}`, &schema.Type{Kind: "array", Items: whole}},
		{`{"prefixItems": [{}], "items": {"type": "integer"}, "type": "array"}`, &schema.Type{Kind: "array"}},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": {"type": "integer"}}`, &schema.Type{Kind: "array", Items: whole}},
		{`{"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"minimum": 1}, "b": {"type": "integer"}}}]}`,
			&schema.Type{Kind: "object", Properties: map[string]*schema.Type{"a": {Kind: "string", Minimum: &one}, "b": whole}}},
	} {
		got := compile(t, c.src).Type()
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(schema.Type{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.src, diff)
		}
	}
}

// A policy is checked with the types of its facts.
func TestExpr(t *testing.T) {
	s := compile(t, `{"properties": {
		"phase": {"type": "string"}, "n": {"type": "integer"}, "f": {"type": "number"}, "ok": {"type": "boolean"},
		"specs": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}},
		"free": {"type": "object"}, "closed": {"type": "object", "additionalProperties": false},
		"map": {"type": "object", "additionalProperties": {"properties": {"x": {"type": "integer"}}}},
		"tree": {"$ref": "#"}
	}}`)
	env := types.Map{"state": s.Type().Expr()}
	for _, c := range []struct{ code, want string }{
		{`state.phase == "a" and state.n + 1 < 3 and state.f * 2 > state.n and state.ok`, ""},
		{`any(state.specs, .name startsWith "a")`, ""},
		{`state.free.anything.goes + 1 > 0`, ""},
		{`state.map["k"].x + 1 > 0`, ""},
		{`state.tree.n > 1`, ""},
		{`state.tree.tree.whatever`, ""}, // a type that contains itself is any within
		{`state.phsae == "a"`, "unknown field phsae"},
		{`state.phase + 1 == 2`, "mismatched types string and int"},
		{`state.n == "a"`, "mismatched types int and string"},
		{`state.f == "a"`, "mismatched types float64 and string"},
		{`any(state.specs, .nmae == "a")`, "unknown field nmae"},
		{`state.closed.x`, "unknown field x"},
		{`state.map.k.y`, "unknown field y"},
		{`state.tree.phsae`, "unknown field phsae"},
	} {
		_, err := expr.Compile(c.code, expr.Env(env))
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: error %v, want %s", c.code, err, c.want)
		}
	}
	if got := (&schema.Type{Go: types.Int}).Expr(); got != types.Int {
		t.Errorf("a Go type is %v", got)
	}
}

// The number of a field may be an int or a float64, whatever its type for the checker.
func TestExprNumbers(t *testing.T) {
	s := compile(t, `{"properties": {"f": {"type": "number"}, "n": {"type": "integer"}}}`)
	program, err := expr.Compile(`[s.f == 2, s.f == s.n, s.f + 1 == 3, s.f < 3, -s.f == -2, s.f in [2], max(s.f, 1) == 2]`, expr.Env(types.Map{"s": s.Type().Expr()}))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{`{"f": 2, "n": 2}`, `{"f": 2.0, "n": 2.0}`, `{"f": "2", "n": "2"}`} {
		v, _ := s.Read(parse(t, doc))
		got, err := expr.Run(program, map[string]any{"s": v})
		if err != nil || slices.Contains(got.([]any), any(false)) {
			t.Errorf("%s: got %v, error %v", doc, got, err)
		}
	}
}

func TestAt(t *testing.T) {
	typ := compile(t, `{"properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}, "m": {"additionalProperties": {"type": "integer"}}}}`).Type()
	for path, want := range map[string]string{"": "object", "a": "array", "a 0 b": "string", "m x": "integer", "x": "nil", "a 0 x y": "nil"} {
		got := "nil"
		if at := typ.At(strings.Fields(path)...); at != nil {
			got = at.Kind
		}
		if got != want {
			t.Errorf("at %q: got %s, want %s", path, got, want)
		}
	}
}
