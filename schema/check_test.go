package schema_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/schema"
)

func mustCompile(t testing.TB, src string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile("test.schema.json", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustParse(t testing.TB, src string) schema.Document {
	t.Helper()
	j, err := schema.ParseJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func lines(all []schema.Violation) []string {
	var out []string
	for _, v := range all {
		out = append(out, v.String())
	}
	return out
}

// One field of each kind, with any value that a state file may hold. The field has no default and is not required.
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
		{`{"type": "integer"}`, `9007199254740993`, huge, "", "is 9007199254740993, too big to be exact; it counts as 9007199254740991"},
		{`{"type": "integer"}`, `123456789012345678901234567890`, huge, "", "is 123456789012345678901234567890, too big to be exact; it counts as 9007199254740991"},
		{`{"type": "integer"}`, `-1e400`, -huge, "", "is -1e400, too big to be exact; it counts as -9007199254740991"},
		{`{"type": "integer"}`, `1e5000000`, huge, "", "is 1e5000000, too big to be exact; it counts as 9007199254740991"},
		{`{"type": "integer"}`, `"99999999999999999999"`, huge, "", `is "99999999999999999999", too big to be exact; it counts as 9007199254740991`},
		{`{"type": "integer"}`, `2.5`, nil, "is 2.5, expected integer", ""},
		{`{"type": "integer"}`, `"2.5"`, nil, `is "2.5", expected integer`, ""},
		{`{"type": "integer"}`, `"abc"`, nil, `is "abc", expected integer`, ""},
		{`{"type": "integer"}`, `""`, nil, `is "", expected integer`, ""},
		{`{"type": "integer"}`, `"2\n3"`, nil, `is "2\n3", expected integer`, ""},
		{`{"type": "integer"}`, `"0x3"`, nil, `is "0x3", expected integer`, ""},
		{`{"type": "integer"}`, `"1_000"`, nil, `is "1_000", expected integer`, ""},
		{`{"type": "integer"}`, `"2."`, nil, `is "2.", expected integer`, ""},
		{`{"type": "integer"}`, `"2e"`, nil, `is "2e", expected integer`, ""},
		{`{"type": "integer"}`, `"Infinity"`, nil, `is "Infinity", expected integer`, ""},
		{`{"type": "integer"}`, `true`, nil, "is true, expected integer", ""},
		{`{"type": "integer"}`, `[1]`, nil, "is an array of 1, expected integer", ""},
		{`{"type": "integer"}`, `{}`, nil, "is an object with 0 fields, expected integer", ""},
		{`{"type": "integer"}`, `null`, nil, "", ""}, // the same as no field
		{`{"type": "integer", "minimum": 0}`, `-1`, nil, "is -1, expected at least 0", ""},
		{`{"type": "integer", "exclusiveMaximum": 3}`, `"3"`, nil, "is 3, expected less than 3", ""},

		{`{"type": "number"}`, `2.5`, 2.5, "", ""},
		{`{"type": "number"}`, `"2.5"`, 2.5, "", ""},
		{`{"type": "number"}`, `3.0`, 3, "", ""},
		{`{"type": "number"}`, `1e-400`, 0, "", ""},
		{`{"type": "number", "multipleOf": 0.5}`, `1.2`, 1.2, "", "is 1.2, expected a multiple of 0.5"},

		{`{"type": "boolean"}`, `true`, true, "", ""},
		{`{"type": "boolean"}`, `"true"`, true, "", ""},
		{`{"type": "boolean"}`, `" FALSE "`, false, "", ""},
		{`{"type": "boolean"}`, `"no"`, nil, `is "no", expected boolean`, ""},
		{`{"type": "boolean"}`, `0`, nil, "is 0, expected boolean", ""},

		{`{"type": "string"}`, `"10"`, "10", "", ""},
		{`{"type": "string"}`, `10`, nil, "is 10, expected string", ""},
		{`{"type": "string", "pattern": "^a"}`, `"b"`, "b", "", `is "b", expected string that matches ^a`},
		{`{"type": "string", "minLength": 2}`, `"é"`, "é", "", "has 1 character, expected at least 2"},
		{`{"type": "string", "maxLength": 2}`, `"ééé"`, "ééé", "", "has 3 characters, expected at most 2"},
		{`{"type": "string", "format": "date-time"}`, `"today"`, nil, `is "today", expected a time`, ""},
		{`{"enum": ["a", "b", "c"]}`, `"d"`, "d", "", `is "d", expected one of "a", "b" or "c"`},
		{`{"enum": ["a"]}`, `3`, nil, `is 3, expected string`, ""},
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
		{`{"type": ["array", "string"]}`, `3`, nil, "is 3, expected string or array", ""},
		{`{"type": ["integer", "boolean"]}`, `"true"`, true, "", ""},

		{`{"type": "array", "items": {"type": "integer"}}`, `[1, "2", 3.0]`, []any{1, 2, 3}, "", ""},
		{`{"type": "array", "minItems": 2}`, `[1]`, []any{1}, "", "has 1 element, expected at least 2"},
		{`{"type": "array", "uniqueItems": true}`, `[1, 1.0]`, []any{1, 1}, "", "has equal elements at index 0 and 1"},
		{`{"type": "object", "maxProperties": 0}`, `{"a": 1e1}`, map[string]any{"a": 10}, "", "has 1 field, expected at most 0"},

		{`false`, `1`, 1, "", "is not allowed here"},
		{`{"anyOf": [{"type": "integer"}, {"type": "boolean"}]}`, `"2"`, "2", "",
			`fits none of the alternatives: is "2", expected boolean; or is "2", expected integer`},
		{`{"oneOf": [{"minimum": 1}, {"minimum": 2}]}`, `2`, 2, "", "fits the alternatives at index 0, 1, expected exactly one"},
		{`{"not": {"const": "x"}}`, `"x"`, "x", "", `is "x", which is excluded`},
	}
	for _, tt := range tests {
		t.Run(tt.field+" "+tt.doc, func(t *testing.T) {
			s := mustCompile(t, `{"type": "object", "properties": {"f": `+tt.field+`}}`)
			got := s.Check(mustParse(t, `{"f": `+tt.doc+`}`))
			fields := map[string]any{}
			if tt.want != nil {
				fields["f"] = tt.want
			} else if tt.doc == "null" && s.At("f").Nullable {
				fields["f"] = nil
			}
			want := schema.Result{Value: fields}
			if tt.unusable != "" {
				want.Unusable = []schema.Violation{{Pointer: "/f", Line: 1, Col: 7, Message: tt.unusable}}
			}
			if tt.warning != "" {
				want.Warnings = []schema.Violation{{Pointer: "/f", Line: 1, Col: 7, Message: tt.warning, Clamped: strings.Contains(tt.warning, "too big")}}
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(schema.Violation{}, "Help", "Keyword", "Value")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// What a violation says of itself: which keyword is broken, what the document has there, and what to write.
func TestViolations(t *testing.T) {
	type violation struct {
		Text, Keyword string
		Value         any
	}
	number := func(s string) any { return json.Number(s) }
	tests := []struct {
		field, doc string
		want       violation
	}{
		{`{"type": "integer"}`, `"seven"`, violation{`is "seven", expected integer; write a whole number such as 3`, "type", "seven"}},
		{`{"type": "number"}`, `[1]`, violation{`is an array of 1, expected number; write a number such as 2.5`, "type", []any{number("1")}}},
		{`{"type": "boolean"}`, `1`, violation{`is 1, expected boolean; write true or false`, "type", number("1")}},
		{`{"type": "string"}`, `{"a": 1}`, violation{`is an object with 1 fields, expected string; write a string such as "text"`, "type", map[string]any{"a": number("1")}}},
		{`{"type": ["integer", "null"]}`, `"seven"`, violation{`is "seven", expected integer or null`, "type", "seven"}},
		{`{"type": "integer", "minimum": 1}`, `"0"`, violation{`is 0, expected at least 1`, "minimum", "0"}},
		{`{"type": "integer", "maximum": 1}`, `2`, violation{`is 2, expected at most 1`, "maximum", number("2")}},
		{`{"type": "integer", "exclusiveMinimum": 1}`, `1`, violation{`is 1, expected more than 1`, "exclusiveMinimum", number("1")}},
		{`{"type": "integer", "exclusiveMaximum": 1}`, `1`, violation{`is 1, expected less than 1`, "exclusiveMaximum", number("1")}},
		{`{"type": "integer"}`, `1e400`, violation{`is 1e400, too big to be exact; it counts as 9007199254740991`, "", number("1e400")}},
		{`{"format": "go-duration"}`, `"30"`, violation{`is "30", expected a duration; write a duration such as 30m`, "format", "30"}},
		{`{"format": "date-time"}`, `"soon"`, violation{`is "soon", expected a time; write a time such as 2026-11-20T12:00:00Z`, "format", "soon"}},
		{`{"format": "ipv4"}`, `"soon"`, violation{`is "soon", expected the format ipv4`, "format", "soon"}},
		{`{"format": "go-duration", "multipleOf": 2}`, `"30"`, violation{`is "30", expected a duration; write a duration such as 30m`, "format", "30"}},
		{`{"enum": ["a", "b"]}`, `"c"`, violation{`is "c", expected one of "a" or "b"`, "enum", "c"}},
		{`{"enum": ["plan", "done"]}`, `"Done"`, violation{`is "Done", expected one of "plan" or "done"; did you mean "done"?`, "enum", "Done"}},
		{`{"type": "string"}`, `5`, violation{`is 5, expected string; write a string such as "text"`, "type", number("5")}},
		{`{"const": "a"}`, `"c"`, violation{`is "c", expected "a"`, "const", "c"}},
		{`{"pattern": "^a"}`, `"c"`, violation{`is "c", expected string that matches ^a`, "pattern", "c"}},
		{`{"minLength": 2}`, `"c"`, violation{`has 1 character, expected at least 2`, "minLength", "c"}},
		{`{"multipleOf": 2}`, `3`, violation{`is 3, expected a multiple of 2`, "multipleOf", number("3")}},
		{`{"not": {"const": "x"}}`, `"x"`, violation{`is "x", which is excluded`, "not", "x"}},
		{`{"anyOf": [{"type": "integer"}, {"type": "boolean"}]}`, `"2"`, violation{`fits none of the alternatives: is "2", expected boolean; or is "2", expected integer`, "anyOf", "2"}},
		{`{"properties": {"a": {}}, "required": ["a"]}`, `{}`, violation{`is required but missing`, "required", nil}},
		{`{"properties": {"a": {}}, "additionalProperties": false}`, `{"b": "x"}`, violation{`is not a field of this object, expected a`, "additionalProperties", "x"}},
		{`false`, `"x"`, violation{`is not allowed here`, "", "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.field+" "+tt.doc, func(t *testing.T) {
			s := mustCompile(t, `{"properties": {"f": `+tt.field+`}}`)
			r := s.Check(mustParse(t, `{"f": `+tt.doc+`}`))
			var got []violation
			for _, v := range slices.Concat(r.Unusable, r.Warnings) {
				got = append(got, violation{v.Text(), v.Keyword, v.Value})
			}
			if diff := cmp.Diff([]violation{tt.want}, got[:min(len(got), 1)]); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// Rules read what is accepted.
func TestFormats(t *testing.T) {
	duration, date := builtin.Builtins[builtin.Index["duration"]].Func, builtin.Builtins[builtin.Index["date"]].Func
	tests := []struct {
		format   string
		parse    func(...any) (any, error)
		accepted []string
		refused  []string
	}{
		{"go-duration", duration,
			[]string{"30m", "4h", "1h30m", "0", "0s", "1.5h", "720h", "300ms", "-0s", "+5m"},
			[]string{"30", "soon", "-5m", "PT5M", "1d", " 5m", "5 m", "9999999999h", strings.Repeat("0", 3000) + "1m"}},
		{"date-time", date,
			[]string{"2026-11-20T12:00:00Z", "2026-11-20T12:00:00.123Z", "2026-11-20T12:00:00+02:00", "2026-11-20", "2026-11-20 12:00:00", "2026-11-20 12:00:00.5"},
			[]string{"soon", "2026-11-20T12:00:00", "2026-11-20 12:00:00Z", "2026-11-31", "20.11.2026", "12:00:00", "2026-11-20T25:00:00Z", "1763640000", " 2026-11-20"}},
	}
	for _, tt := range tests {
		for _, more := range []string{"", `, "not": {"const": "never"}`} {
			s := mustCompile(t, `{"type": "string", "format": "`+tt.format+`"`+more+`}`)
			if unknown := s.Unknown(); len(unknown) > 0 {
				t.Errorf("%s: unknown: %v", tt.format, unknown)
			}
			for _, text := range append(tt.accepted, "") {
				if r := s.Check(schema.Document{Value: text}); len(r.Warnings) > 0 || r.Value != text {
					t.Errorf("%s%s: %q returns %v", tt.format, more, text, r)
				}
				if _, err := tt.parse(text); err != nil && text != "" {
					t.Errorf("%s: %q is accepted, but rules read: %v", tt.format, text, err)
				}
			}
			for _, text := range tt.refused {
				if r := s.Check(schema.Document{Value: text}); len(r.Unusable) != 1 || r.Unusable[0].Keyword != "format" || r.Value != nil {
					t.Errorf("%s%s: %q returns %v", tt.format, more, text, r)
				}
			}
		}
	}
	s := mustCompile(t, `{"format": "go-duraton"}`)
	if diff := cmp.Diff([]string{`1:12: /format: unknown format "go-duraton", it is not checked; did you mean "go-duration"?`}, lines(s.Unknown())); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

// A number that counts as another is found anywhere, even where no schema applies, but not in what is unusable.
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
			if !w.Clamped || !strings.Contains(w.Message, ", too big to be exact; it counts as ") {
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
		if read := schema.Bare(c.schema).Check(schema.Document{Value: doc.Value}); len(read.Warnings) != len(c.at) {
			t.Errorf("%s: kinds warn of %v", c.doc, read.Warnings)
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
			warnings: []string{"1:1: /index: is required but missing"},
		},
		{
			name:     "a required field without a default is missing",
			doc:      `{"index": 1}`,
			want:     map[string]any{"index": 1, "phase": "", "limits": map[string]any{"times": 5}},
			warnings: []string{"1:1: /name: is required but missing"},
		},
		{
			name:     "null is absent",
			doc:      `{"index": 1, "name": null}`,
			want:     map[string]any{"index": 1, "phase": "", "limits": map[string]any{"times": 5}},
			warnings: []string{"1:22: /name: is required but missing"},
		},
		{
			name:     "an unusable field does not get its default: nobody wrote that value",
			doc:      `{"name": "x", "index": "one", "limits": 3}`,
			want:     map[string]any{"name": "x", "phase": ""},
			unusable: []string{`1:24: /index: is "one", expected integer; write a whole number such as 3`, "1:41: /limits: is 3, expected object"},
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
			unusable: []string{"4:3: /tasks/1: is 7, expected object"},
			warnings: []string{"5:3: /tasks/2/id: is required but missing"},
		},
		{
			name: "other fields have the type of additionalProperties",
			doc:  `{"name": "x", "index": 0, "counts": {"a": "1", "b/c": [], "d": null}}`,
			want: map[string]any{
				"name": "x", "index": 0, "phase": "", "limits": map[string]any{"times": 5},
				"counts": map[string]any{"a": 1},
			},
			unusable: []string{"1:55: /counts/b~1c: is an array of 0, expected integer; write a whole number such as 3"},
		},
		{
			name:     "a number out of range is unusable, a word that the enum lacks is kept",
			doc:      "{\"name\": \"x\",\r\n\t\"index\": -1, \"phase\": \"excution\"}",
			want:     map[string]any{"name": "x", "phase": "excution", "limits": map[string]any{"times": 5}},
			unusable: []string{"2:11: /index: is -1, expected at least 0"},
			warnings: []string{
				`2:24: /phase: is "excution", expected one of "plan" or "execution"; did you mean "execution"?`,
			},
		},
		{
			name: "of duplicate keys the last counts, for value and position",
			doc:  `{"name": "x", "index": "one", "index": 2, "tasks": [{"id": 1, "done": true, "done": false, "done": true}]}`,
			want: map[string]any{"name": "x", "index": 2, "phase": "", "limits": map[string]any{"times": 5}, "tasks": []any{map[string]any{"id": 1, "done": true}}},
			warnings: []string{
				"1:40: /index: is set more than once, and the last one counts; remove the others",
				"1:100: /tasks/0/done: is set more than once, and the last one counts; remove the others",
			},
		},
		{
			name: "a key in other letters, or with a slip, does not set the field",
			doc:  `{"name": "x", "index": 2, "Phase": "execution", "limit": 3, "counts": {"Name": 1}, "note": "y"}`,
			want: map[string]any{
				"name": "x", "index": 2, "phase": "", "limits": map[string]any{"times": 5}, "Phase": "execution", "limit": 3,
				"counts": map[string]any{"Name": 1}, "note": "y",
			},
			warnings: []string{
				`1:1: /limits: is not set, but "limit" is; did you mean "limits"?`,
				`1:1: /phase: is not set, but "Phase" is; did you mean "phase"?`,
			},
		},
		{name: "a list is no state", doc: `[]`, unusable: []string{"1:1: is an array of 0, expected object"}},
		{name: "null is no state", doc: ` null`, unusable: []string{"1:2: is null, expected object"}},
		{name: "text is no state", doc: `"{}"`, unusable: []string{`1:1: is "{}", expected object`}},
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

// Several keywords of one object: each names the field that it is about.
func TestCheckObject(t *testing.T) {
	s := mustCompile(t, `{
		"properties": {
			"a b/é%": {"minimum": 1},
			"n": {"type": "integer"},
			"list": {"items": {"properties": {"k": {"maxLength": 1}}}}
		},
		"required": ["q", "r"],
		"additionalProperties": false,
		"dependentRequired": {"a b/é%": ["list"]}
	}`)
	got := s.Check(mustParse(t, "{\"a b/é%\": 0, \"n\": \"x\",\n \"lisst\": 1, \"z\": 2}"))
	want := schema.Result{
		Value: map[string]any{"lisst": 1, "z": 2},
		Unusable: []schema.Violation{
			{Pointer: "/a b~1é%", Line: 1, Col: 12, Message: "is 0, expected at least 1", Keyword: "minimum", Value: json.Number("0")},
			{Pointer: "/n", Line: 1, Col: 20, Message: `is "x", expected integer`, Help: "write a whole number such as 3", Keyword: "type", Value: "x"},
		},
		Warnings: []schema.Violation{
			{Pointer: "/list", Line: 1, Col: 1, Message: `is not set, but "lisst" is`, Help: `did you mean "list"?`, Keyword: schema.Misspelt},
			{Pointer: "/list", Line: 1, Col: 1, Message: "is required but missing", Keyword: "dependentRequired"},
			{Pointer: "/q", Line: 1, Col: 1, Message: "is required but missing", Keyword: "required"},
			{Pointer: "/r", Line: 1, Col: 1, Message: "is required but missing", Keyword: "required"},
			{Pointer: "/lisst", Line: 2, Col: 11, Message: `is not a field of this object, expected a b/é%, list, n`, Help: `did you mean "list"?`, Keyword: "additionalProperties", Value: json.Number("1")},
			{Pointer: "/z", Line: 2, Col: 19, Message: "is not a field of this object, expected a b/é%, list, n", Keyword: "additionalProperties", Value: json.Number("2")},
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

// Values that no JSON document can have come from YAML and from Go programs.
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
		{"infinity", map[string]any{"n": math.Inf(1), "x": math.NaN()}, map[string]any{"x": "NaN"}, []string{`/n: is "+Inf", expected number; write a number such as 2.5`}},
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

// Schemas larger and deeper than any real one.
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
		{"what nobody means", `{"properties": {"l": {"items": {"type": "integer"}}}}`, map[string]any{"l": many},
			schema.Result{Unusable: []schema.Violation{{Message: "has more than 1000 fields and elements that are unusable"}}}},
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
		for _, src := range []string{recursive, `{"items": {"$ref": "#"}, "uniqueItems": true}`} {
			got := mustCompile(t, src).Check(mustParse(t, doc))
			if got.Unusable != nil {
				t.Errorf("%s: unusable: %v", src, got.Unusable)
			}
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

// A value is read only by its type, and no document has the value of a schema's default.
func TestRead(t *testing.T) {
	s := mustCompile(t, `{"properties": {"a": {"type": "integer", "default": 1}, "list": {"type": "array", "items": {"properties": {"b": {"type": "boolean", "default": true}}}}}}`)
	tests := []struct{ v, want any }{
		{map[string]any{}, map[string]any{"a": 1}},
		{map[string]any{"a": 2.0, "list": []any{map[string]any{}}}, map[string]any{"a": 2, "list": []any{map[string]any{"b": true}}}},
		{map[string]any{"a": "x"}, map[string]any{}},
		{3, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.v), func(t *testing.T) {
			if diff := cmp.Diff(tt.want, schema.Bare(s).Check(schema.Document{Value: tt.v}).Value); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
	whole := mustCompile(t, `{"type": "array", "default": [1.0]}`)
	if diff := cmp.Diff(schema.Result{Value: []any{1}}, whole.Check(schema.Document{})); diff != "" {
		t.Errorf("checked nil (-want +got):\n%s", diff)
	}
}
