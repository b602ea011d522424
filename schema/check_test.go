package schema_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

func mustCompile(t testing.TB, src string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile("test.schema.json", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(); err != nil {
		t.Fatalf("the library refuses what was compiled: %v", err)
	}
	return s
}

func mustParse(t testing.TB, src string) schema.Document {
	t.Helper()
	j, err := schema.ParseJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return j.Document()
}

func lines(all []schema.Violation) []string {
	var out []string
	for _, v := range all {
		out = append(out, v.String())
	}
	return out
}

// One field of each kind, read from whatever a state file may hold. The field has no default and is not required.
func TestCheckReadsFields(t *testing.T) {
	const huge = 1<<53 - 1
	tests := []struct {
		field, doc string
		want       any    // of the field; nil if it is left out
		unusable   string // the message, if reading it is an error
		warning    string // the message, if there is one
	}{
		{`{"type": "integer"}`, `2`, 2, "", ""},
		{`{"type": "integer"}`, `2.0`, 2, "", ""},
		{`{"type": "integer"}`, `1e1`, 10, "", ""},
		{`{"type": "integer"}`, `-0.0`, 0, "", ""},
		{`{"type": "integer"}`, `"2"`, 2, "", ""},
		{`{"type": "integer"}`, `" 2\n"`, 2, "", ""},
		{`{"type": "integer"}`, `"2.0"`, 2, "", ""},
		{`{"type": "integer"}`, `"1e1"`, 10, "", ""},
		{`{"type": "integer"}`, `"08"`, 8, "", ""},
		{`{"type": "integer"}`, `"+3"`, 3, "", ""},
		{`{"type": "integer"}`, `"-3"`, -3, "", ""},
		{`{"type": "integer"}`, `9007199254740991`, huge, "", ""},
		{`{"type": "integer"}`, `9007199254740993`, huge, "", "the number is too big, it counts as 9007199254740991"},
		{`{"type": "integer"}`, `123456789012345678901234567890`, huge, "", "the number is too big, it counts as 9007199254740991"},
		{`{"type": "integer"}`, `-1e400`, -huge, "", "the number is too big, it counts as -9007199254740991"},
		{`{"type": "integer"}`, `1e5000000`, huge, "", "the number is too big, it counts as 9007199254740991"},
		{`{"type": "integer"}`, `"99999999999999999999"`, huge, "", "the number is too big, it counts as 9007199254740991"},
		{`{"type": "integer"}`, `2.5`, nil, "expected int, got number 2.5", ""},
		{`{"type": "integer"}`, `"2.5"`, nil, `expected int, got text "2.5"`, ""},
		{`{"type": "integer"}`, `"abc"`, nil, `expected int, got text "abc"`, ""},
		{`{"type": "integer"}`, `""`, nil, `expected int, got text ""`, ""},
		{`{"type": "integer"}`, `"2\n3"`, nil, `expected int, got text "2\n3"`, ""},
		{`{"type": "integer"}`, `"0x3"`, nil, `expected int, got text "0x3"`, ""},
		{`{"type": "integer"}`, `"1_000"`, nil, `expected int, got text "1_000"`, ""},
		{`{"type": "integer"}`, `"2."`, nil, `expected int, got text "2."`, ""},
		{`{"type": "integer"}`, `"2e"`, nil, `expected int, got text "2e"`, ""},
		{`{"type": "integer"}`, `"Infinity"`, nil, `expected int, got text "Infinity"`, ""},
		{`{"type": "integer"}`, `true`, nil, "expected int, got bool true", ""},
		{`{"type": "integer"}`, `[1]`, nil, "expected int, got a list of 1", ""},
		{`{"type": "integer"}`, `{}`, nil, "expected int, got an object with 0 fields", ""},
		{`{"type": "integer"}`, `null`, nil, "", ""}, // the same as no field
		{`{"type": "integer", "minimum": 0}`, `-1`, -1, "", "is -1, expected at least 0"},
		{`{"type": "integer", "exclusiveMaximum": 3}`, `"3"`, 3, "", "is 3, expected less than 3"},

		{`{"type": "number"}`, `2.5`, 2.5, "", ""},
		{`{"type": "number"}`, `"2.5"`, 2.5, "", ""},
		{`{"type": "number"}`, `3.0`, 3, "", ""},
		{`{"type": "number"}`, `1e-400`, 0, "", ""},
		{`{"type": "number", "multipleOf": 0.5}`, `1.2`, 1.2, "", "is 1.2, expected a multiple of 0.5"},

		{`{"type": "boolean"}`, `true`, true, "", ""},
		{`{"type": "boolean"}`, `"true"`, true, "", ""},
		{`{"type": "boolean"}`, `" FALSE "`, false, "", ""},
		{`{"type": "boolean"}`, `"no"`, nil, `expected bool, got text "no"`, ""},
		{`{"type": "boolean"}`, `0`, nil, "expected bool, got int 0", ""},

		{`{"type": "string"}`, `"10"`, "10", "", ""},
		{`{"type": "string"}`, `10`, nil, "expected text, got int 10", ""},
		{`{"type": "string", "pattern": "^a"}`, `"b"`, "b", "", `is "b", expected text that matches ^a`},
		{`{"type": "string", "minLength": 2}`, `"é"`, "é", "", "has 1 character, expected at least 2"},
		{`{"type": "string", "maxLength": 2}`, `"ééé"`, "ééé", "", "has 3 characters, expected at most 2"},
		{`{"type": "string", "format": "date-time"}`, `"today"`, "today", "", `is "today", expected the format date-time`},
		{`{"enum": ["a", "b", "c"]}`, `"d"`, "d", "", `is "d", expected one of "a", "b" or "c"`},
		{`{"enum": ["a"]}`, `3`, nil, `expected text, got int 3`, ""},
		{`{"enum": [1, 2]}`, `"2"`, 2, "", ""},
		{`{"enum": ["00","01","02","03","04","05","06","07","08","09","10","11","12","13","14","15","16","17","18","19","20","21"]}`, `"x"`, "x", "",
			`is "x", expected one of "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19" or 2 others`},
		{`{"maxLength": 3}`, `"` + strings.Repeat("é", 50) + `"`, strings.Repeat("é", 50), "", "has 50 characters, expected at most 3"},
		{`{"const": "a"}`, `"` + strings.Repeat("é", 50) + `"`, strings.Repeat("é", 50), "", `is "` + strings.Repeat("é", 39) + `…", expected "a"`},
		{`{"const": "a"}`, `"b"`, "b", "", `is "b", expected "a"`},

		{`{"type": ["string", "null"]}`, `null`, nil, "", ""},
		{`{"type": ["integer", "null"]}`, `"7"`, 7, "", ""},
		{`{"type": ["array", "string"]}`, `"a"`, "a", "", ""},
		{`{"type": ["array", "string"]}`, `["a"]`, []any{"a"}, "", ""},
		{`{"type": ["array", "string"]}`, `3`, nil, "expected text or list, got int 3", ""},
		{`{"type": ["integer", "boolean"]}`, `"true"`, true, "", ""},

		{`{"type": "array", "items": {"type": "integer"}}`, `[1, "2", 3.0]`, []any{1, 2, 3}, "", ""},
		{`{"type": "array", "minItems": 2}`, `[1]`, []any{1}, "", "has 1 element, expected at least 2"},
		{`{"type": "array", "uniqueItems": true}`, `[1, 1.0]`, []any{1, 1}, "", "items at index 0 and 1 are equal"},
		{`{"type": "object", "maxProperties": 0}`, `{"a": 1e1}`, map[string]any{"a": 10}, "", "has 1 field, expected at most 0"},

		{`false`, `1`, 1, "", "is not allowed here"},
		{`{"anyOf": [{"type": "integer"}, {"type": "boolean"}]}`, `"2"`, "2", "",
			`fits none of the alternatives: expected bool, got text "2"; or expected int, got text "2"`},
		{`{"oneOf": [{"minimum": 1}, {"minimum": 2}]}`, `2`, 2, "", "valid against schemas at indexes 0 and 1"},
		{`{"not": {"const": "x"}}`, `"x"`, "x", "", "not failed"},
	}
	for _, tt := range tests {
		t.Run(tt.field+" "+tt.doc, func(t *testing.T) {
			s := mustCompile(t, `{"type": "object", "properties": {"f": `+tt.field+`}}`)
			got := s.Check(mustParse(t, `{"f": `+tt.doc+`}`))
			fields := map[string]any{}
			if tt.want != nil {
				fields["f"] = tt.want
			} else if tt.doc == "null" && s.Type().At("f").Nullable {
				fields["f"] = nil
			}
			want := schema.Result{Value: fields}
			if tt.unusable != "" {
				want.Unusable = []schema.Violation{{Pointer: "/f", Line: 1, Col: 7, Message: tt.unusable}}
			}
			if tt.warning != "" {
				want.Warnings = []schema.Violation{{Pointer: "/f", Line: 1, Col: 7, Message: tt.warning, Clamped: strings.Contains(tt.warning, "too big")}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// A number that counts as another is found wherever it stands, also where the schema says
// nothing of it, but not in what is unusable.
func TestClamped(t *testing.T) {
	const huge = 1<<53 - 1
	open, closed := mustCompile(t, `true`), mustCompile(t, `{"properties": {"s": {"type": "string"}, "l": {"type": "array", "items": {"type": "number"}}}}`)
	for _, c := range []struct {
		schema *schema.Schema
		doc    string
		want   any
		at     []string
	}{
		{open, `{"n": 123456789012345678901234567890, "m": [1, {"k": -1e400}], "x": 0.5, "i": 9007199254740991}`,
			map[string]any{"n": huge, "m": []any{1, map[string]any{"k": -huge}}, "x": 0.5, "i": huge}, []string{"/n", "/m/1/k"}},
		{closed, `{"l": [1, 1e300, 0.5], "other": 9007199254740992}`, map[string]any{"l": []any{1, huge, 0.5}, "other": huge}, []string{"/l/1", "/other"}},
		{closed, `{"s": [1e300], "l": [[1e300]]}`, map[string]any{"l": []any{nil}}, nil},
	} {
		doc := mustParse(t, c.doc)
		r := c.schema.Check(doc)
		var at []string
		for _, w := range r.Warnings {
			if !w.Clamped || !strings.HasPrefix(w.Message, "the number is too big, it counts as ") {
				t.Errorf("%s: %v", c.doc, w)
			}
			at = append(at, w.Pointer)
		}
		if diff := cmp.Diff(c.want, r.Value); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.doc, diff)
		}
		if diff := cmp.Diff(c.at, at); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.doc, diff)
		}
		if read := c.schema.Type().Read(doc.Value); len(read.Warnings) != len(c.at) {
			t.Errorf("%s: Read warns of %v", c.doc, read.Warnings)
		}
	}
}

// Whole documents: defaults, what is unusable, and where.
func TestCheckDocuments(t *testing.T) {
	const state = `{
		"type": "object",
		"properties": {
			"phase": {"type": "string", "enum": ["plan", "execution"], "default": ""},
			"index": {"type": "integer", "minimum": 0, "default": 0},
			"name":  {"type": "string"},
			"tasks": {"type": "array", "items": {
				"type": "object",
				"properties": {"id": {"type": "integer"}, "done": {"type": "boolean", "default": false}},
				"required": ["id"]
			}},
			"limits": {"type": "object", "default": {}, "properties": {"times": {"type": "integer", "default": 5}}},
			"counts": {"type": "object", "additionalProperties": {"type": "integer"}}
		},
		"required": ["name", "index"]
	}`
	tests := []struct {
		name, doc          string
		want               any
		unusable, warnings []string
	}{
		{
			name: "defaults stand in for absent and null fields, and never break their own enum",
			doc:  `{"name": "x", "index": 1, "phase": null}`,
			want: map[string]any{"name": "x", "index": 1, "phase": "", "limits": map[string]any{"times": 5}},
		},
		{
			name:     "a required field with a default is usable and told",
			doc:      `{"name": "x"}`,
			want:     map[string]any{"name": "x", "index": 0, "phase": "", "limits": map[string]any{"times": 5}},
			warnings: []string{"1:1: /index: is required but absent"},
		},
		{
			name:     "a required field without a default is unusable",
			doc:      `{"index": 1}`,
			want:     map[string]any{"index": 1, "phase": "", "limits": map[string]any{"times": 5}},
			unusable: []string{"1:1: /name: is required but absent"},
			warnings: []string{"1:1: /name: is required but absent"},
		},
		{
			name:     "null is absent",
			doc:      `{"index": 1, "name": null}`,
			want:     map[string]any{"index": 1, "phase": "", "limits": map[string]any{"times": 5}},
			unusable: []string{"1:22: /name: is required but absent"},
			warnings: []string{"1:22: /name: is required but absent"},
		},
		{
			name:     "an unusable field does not get its default: nobody wrote that value",
			doc:      `{"name": "x", "index": "one", "limits": 3}`,
			want:     map[string]any{"name": "x", "phase": ""},
			unusable: []string{`1:24: /index: expected int, got text "one"`, "1:41: /limits: expected object, got int 3"},
		},
		{
			name: "elements are judged one by one",
			doc: `{"name": "x", "index": 0,
 "tasks": [
  {"id": "1"},
  7,
  {"done": "TRUE"}]}`,
			want: map[string]any{
				"name": "x", "index": 0, "phase": "", "limits": map[string]any{"times": 5},
				"tasks": []any{map[string]any{"id": 1, "done": false}, nil, map[string]any{"done": true}},
			},
			unusable: []string{"4:3: /tasks/1: expected object, got int 7", "5:3: /tasks/2/id: is required but absent"},
			warnings: []string{"5:3: /tasks/2/id: is required but absent"},
		},
		{
			name: "other fields have the type of additionalProperties",
			doc:  `{"name": "x", "index": 0, "counts": {"a": "1", "b/c": [], "d": null}}`,
			want: map[string]any{
				"name": "x", "index": 0, "phase": "", "limits": map[string]any{"times": 5},
				"counts": map[string]any{"a": 1},
			},
			unusable: []string{"1:55: /counts/b~1c: expected int, got a list of 0"},
		},
		{
			name: "wrong values are kept",
			doc:  "{\"name\": \"x\",\r\n\t\"index\": -1, \"phase\": \"excution\"}",
			want: map[string]any{"name": "x", "index": -1, "phase": "excution", "limits": map[string]any{"times": 5}},
			warnings: []string{
				"2:11: /index: is -1, expected at least 0",
				`2:24: /phase: is "excution", expected one of "plan" or "execution"`,
			},
		},
		{
			name: "of duplicate keys the last counts, for value and position",
			doc:  `{"name": "x", "index": "one", "index": -2}`,
			want: map[string]any{"name": "x", "index": -2, "phase": "", "limits": map[string]any{"times": 5}},
			warnings: []string{
				"1:40: /index: is -2, expected at least 0",
			},
		},
		{name: "a list is no state", doc: `[]`, unusable: []string{"1:1: expected object, got a list of 0"}},
		{name: "null is no state", doc: ` null`, unusable: []string{"1:2: expected object, got null"}},
		{name: "text is no state", doc: `"{}"`, unusable: []string{`1:1: expected object, got text "{}"`}},
	}
	s := mustCompile(t, state)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := s.Check(mustParse(t, tt.doc))
			if diff := cmp.Diff(tt.want, got.Value); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.unusable, lines(got.Unusable)); diff != "" {
				t.Errorf("unusable (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, lines(got.Warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// A schema that only the library can judge gives the same results, in the same words.
func TestCheckWithLibrary(t *testing.T) {
	s := mustCompile(t, `{
		"properties": {
			"a b/é%": {"minimum": 1},
			"n": {"type": "integer"},
			"list": {"items": {"properties": {"k": {"maxLength": 1}}}}
		},
		"required": ["q", "r"],
		"additionalProperties": false,
		"dependentRequired": {"n": ["list"]}
	}`)
	got := s.Check(mustParse(t, "{\"a b/é%\": 0, \"n\": \"x\",\n \"lisst\": 1, \"z\": 2}"))
	want := schema.Result{
		Value: map[string]any{"a b/é%": 0, "lisst": 1, "z": 2},
		Unusable: []schema.Violation{
			{Pointer: "/q", Line: 1, Col: 1, Message: "is required but absent"},
			{Pointer: "/r", Line: 1, Col: 1, Message: "is required but absent"},
			{Pointer: "/n", Line: 1, Col: 20, Message: `expected int, got text "x"`},
		},
		Warnings: []schema.Violation{
			{Pointer: "", Line: 1, Col: 1, Message: "property 'list' is required, if 'n' property exists"},
			{Pointer: "/q", Line: 1, Col: 1, Message: "is required but absent"},
			{Pointer: "/r", Line: 1, Col: 1, Message: "is required but absent"},
			{Pointer: "/a b~1é%", Line: 1, Col: 12, Message: "is 0, expected at least 1"},
			{Pointer: "/lisst", Line: 2, Col: 11, Message: `is not a field of this object, expected a b/é%, list, n`, Help: `did you mean "list"?`},
			{Pointer: "/z", Line: 2, Col: 19, Message: "is not a field of this object, expected a b/é%, list, n"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// In front matter a plain scalar where text is declared is its source text.
func TestCheckSourceText(t *testing.T) {
	s := mustCompile(t, `{"properties": {
		"promise": {"type": "string", "default": ""},
		"names":   {"type": "array", "items": {"type": "string"}},
		"either":  {"type": ["array", "string"]},
		"count":   {"type": "integer"}
	}}`)
	source := map[string]string{"/promise": "0042", "/names/1": "yes", "/either": "1.0", "/count": "010"}
	got := s.Check(schema.Document{
		Value: map[string]any{"promise": 34, "names": []any{"a", true}, "either": 1.0, "count": 8},
		Text: func(pointer string) (string, bool) {
			text, ok := source[pointer]
			return text, ok
		},
	})
	want := schema.Result{Value: map[string]any{"promise": "0042", "names": []any{"a", "yes"}, "either": "1.0", "count": 8}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// Values that no JSON document holds come from YAML and from Go programs.
func TestCheckForeignValues(t *testing.T) {
	s := mustCompile(t, `{"properties": {"n": {"type": "number"}, "s": {"type": "string"}, "i": {"type": "integer"}}}`)
	tests := []struct {
		name     string
		value    any
		want     any
		unusable []string
	}{
		{"int64", map[string]any{"i": int64(math.MaxInt64)}, map[string]any{"i": 1<<53 - 1}, nil},
		{"uint64", map[string]any{"i": uint64(math.MaxUint64)}, map[string]any{"i": 1<<53 - 1}, nil},
		{"the least int64", map[string]any{"i": int64(math.MinInt64)}, map[string]any{"i": -(1<<53 - 1)}, nil},
		{"small types", map[string]any{"i": int32(3), "n": float32(0.5), "x": []any{uint(1), uint32(2)}},
			map[string]any{"i": 3, "n": 0.5, "x": []any{1, 2}}, nil},
		{"infinity", map[string]any{"n": math.Inf(1), "x": math.NaN()}, map[string]any{"x": "NaN"}, []string{`/n: expected number, got text "+Inf"`}},
		{"other types are text", map[string]any{"s": struct{ A int }{1}, "x": []string{"a"}}, map[string]any{"s": "{1}", "x": "[a]"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := s.Check(schema.Document{Value: tt.value})
			if diff := cmp.Diff(tt.want, got.Value); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.unusable, lines(got.Unusable)); diff != "" {
				t.Errorf("unusable (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckLeavesDocumentAlone(t *testing.T) {
	s := mustCompile(t, `{"properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "object", "default": {"c": []}}}}`)
	value := map[string]any{"x": []any{1.0}, "a": "2"}
	first := s.Check(schema.Document{Value: value})
	if diff := cmp.Diff(map[string]any{"x": []any{1.0}, "a": "2"}, value); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	first.Value.(map[string]any)["b"].(map[string]any)["c"] = "changed"
	second := s.Check(schema.Document{Value: value})
	if diff := cmp.Diff(map[string]any{"c": []any{}}, second.Value.(map[string]any)["b"]); diff != "" {
		t.Errorf("default after the first result was changed (-want +got):\n%s", diff)
	}
}

// Too much of what nobody means, and too deep for anybody.
func TestCheckDepthAndAmount(t *testing.T) {
	recursive := `{"$ref": "#/$defs/list", "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}}`
	itself := []any{nil}
	itself[0] = itself
	many := make([]any, 5000)
	for i := range many {
		many[i] = "x"
	}
	tests := []struct {
		name, schema string
		value        any
		want         schema.Result
	}{
		{"a value that contains itself", recursive, itself,
			schema.Result{Unusable: []schema.Violation{{Message: "is nested deeper than 1000 levels"}}}},
		{"the same without a type", `{}`, itself,
			schema.Result{Unusable: []schema.Violation{{Message: "is nested deeper than 1000 levels"}}}},
		{"objects that nobody means", `{"properties": {"l": {"additionalProperties": {"items": {"type": "integer"}}}}}`,
			map[string]any{"l": map[string]any{"a": many[:700], "b": many[:700]}},
			schema.Result{Value: map[string]any{}, Unusable: []schema.Violation{{Pointer: "/l",
				Message: "has more than 1000 fields and elements that are unusable"}}}},
		{"what nobody means", `{"properties": {"l": {"items": {"type": "integer"}}}}`, map[string]any{"l": many},
			schema.Result{Value: map[string]any{}, Unusable: []schema.Violation{{Pointer: "/l",
				Message: "has more than 1000 fields and elements that are unusable"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustCompile(t, tt.schema).Check(schema.Document{Value: tt.value})); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("as deep as it may be", func(t *testing.T) {
		doc := strings.Repeat("[", schema.MaxDepth) + strings.Repeat("]", schema.MaxDepth)
		for _, src := range []string{recursive, `{"$ref": "https://json-schema.org/draft/2020-12/schema"}`,
			`{"items": {"$ref": "#"}, "uniqueItems": true}`} {
			got := mustCompile(t, src).Check(mustParse(t, doc))
			if got.Unusable != nil {
				t.Errorf("%s: unusable: %v", src, got.Unusable)
			}
		}
	})
	t.Run("too much for the library", func(t *testing.T) {
		got := mustCompile(t, `{"items": {"format": "date"}}`).Check(schema.Document{Value: make([]any, 50_000)})
		if diff := cmp.Diff([]string{"cannot be checked: it has more than 50000 values"}, lines(got.Warnings)); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
	})
	t.Run("warnings are counted too", func(t *testing.T) {
		got := mustCompile(t, `{"items": {"const": 1}}`).Check(schema.Document{Value: []any(func() []any {
			list := make([]any, 5000)
			for i := range list {
				list[i] = 2
			}
			return list
		}())})
		if len(got.Warnings) != 1000 || got.Warnings[999].Pointer != "/999" {
			t.Errorf("%d warnings, the last %v; want 1000, the last for /999", len(got.Warnings), got.Warnings[len(got.Warnings)-1])
		}
	})
}

func TestComplete(t *testing.T) {
	s := mustCompile(t, `{"properties": {"a": {"type": "integer", "default": 1}, "list": {"type": "array", "items": {"properties": {"b": {"type": "boolean", "default": true}}}}}}`)
	tests := []struct{ v, want any }{
		{nil, nil},
		{map[string]any{}, map[string]any{"a": 1}},
		{map[string]any{"a": 2.0, "list": []any{map[string]any{}}}, map[string]any{"a": 2, "list": []any{map[string]any{"b": true}}}},
		{map[string]any{"a": "x"}, map[string]any{}},
		{3, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.v), func(t *testing.T) {
			if diff := cmp.Diff(tt.want, s.Complete(tt.v)); diff != "" {
				t.Errorf("completed (-want +got):\n%s", diff)
			}
		})
	}
	whole := mustCompile(t, `{"type": "array", "default": [1.0]}`)
	if diff := cmp.Diff([]any{1}, whole.Complete(nil)); diff != "" {
		t.Errorf("completed nil (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(schema.Result{Value: []any{1}}, whole.Check(schema.Document{})); diff != "" {
		t.Errorf("checked nil (-want +got):\n%s", diff)
	}
}
