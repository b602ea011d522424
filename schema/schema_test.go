package schema_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

func compile(t testing.TB, src string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, src string) any {
	t.Helper()
	v, err := schema.ParseJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// One field of each kind, with the values that real files have. Where there is no problem, the field is as it is read.
func TestReadField(t *testing.T) {
	for _, c := range []struct{ schema, field, want, problem string }{
		{`{"type": "integer"}`, `2`, `2`, ""},
		{`{"type": "integer"}`, `2.0`, `2`, ""},
		{`{"type": "integer"}`, `1e1`, `10`, ""},
		{`{"type": "integer"}`, `"2"`, `2`, ""},
		{`{"type": "integer"}`, `"2.0"`, `2`, ""},
		{`{"type": "integer"}`, `"-3"`, `-3`, ""},
		{`{"type": ["integer", "null"]}`, `"7"`, `7`, ""},
		{`{"allOf": [{"type": "number"}, {"type": "integer"}]}`, `"7"`, `7`, ""},
		{`{"anyOf": [{"type": "null"}, {"type": "integer"}]}`, `"7"`, `7`, ""},
		{`{"type": "integer"}`, `123456789012345678901234567890`, `123456789012345678901234567890`, ""},
		{`{"type": ["integer", "null"]}`, `"null"`, `"null"`, `must be a whole number or null, and is "null"`},
		{`{"type": "integer"}`, `null`, ``, ""}, // no field
		{`{"type": "integer"}`, `2.5`, `2.5`, "must be a whole number, and is 2.5"},
		{`{"type": "integer"}`, `"2.5"`, `2.5`, "must be a whole number, and is 2.5"},
		{`{"type": "integer"}`, `" 2"`, `" 2"`, `must be a whole number, and is " 2"`},
		{`{"type": "integer"}`, `"08"`, `"08"`, `must be a whole number, and is "08"`},
		{`{"type": "integer"}`, `"0x3"`, `"0x3"`, `must be a whole number, and is "0x3"`},
		{`{"type": "integer"}`, `""`, `""`, `must be a whole number, and is ""`},
		{`{"type": "integer"}`, `true`, `true`, "must be a whole number, and is true"},
		{`{"type": "integer"}`, `[1]`, `[1]`, "must be a whole number, and is [1]"},
		{`{"type": "integer"}`, `{}`, `{}`, "must be a whole number, and is {}"},
		{`{"type": "integer", "minimum": 0}`, `"-1"`, `-1`, "must be >= 0 but found -1"},

		{`{"type": "number"}`, `"2.5"`, `2.5`, ""},
		{`{"type": "number"}`, `1e400`, fmt.Sprint(math.MaxFloat64), ""},
		{`{"type": "number"}`, `"NaN"`, `"NaN"`, `must be a number, and is "NaN"`},

		{`{"type": "boolean"}`, `"true"`, `true`, ""},
		{`{"type": "boolean"}`, `"yes"`, `"yes"`, `must be true or false, and is "yes"`},
		{`{"type": "boolean"}`, `0`, `0`, `must be true or false, and is 0`},

		{`{"type": "string"}`, `"10"`, `"10"`, ""},
		{`{"type": "string"}`, `10`, `10`, "must be a text, and is 10"},
		{`{"type": ["string", "integer"]}`, `"10"`, `"10"`, ""},
		{`{}`, `"10"`, `"10"`, ""},
		{`{"type": "string", "pattern": "^a"}`, `"b"`, `"b"`, `must match the pattern '^a', and is "b"`},
		{`{"enum": ["a", "b"]}`, `"c"`, `"c"`, `must be one of "a", "b", and is "c"`},
		{`{"const": "a"}`, `"c"`, `"c"`, `must be "a", and is "c"`},
		{`{"const": "a"}`, `"` + strings.Repeat("é", 50) + `\u202e"`, `"` + strings.Repeat("é", 50) + `\u202e"`, `must be "a", and is "` + strings.Repeat("é", 39) + `…`},

		{`{"type": ["array", "string"]}`, `3`, `3`, "must be a list or a text, and is 3"},
		{`{"type": "array", "items": {"type": "integer"}}`, `["1", null]`, `[1, null]`, "1: must be a whole number, and is null"},
		{`{"type": "array", "minItems": 2}`, `[1]`, `[1]`, "minimum 2 items required, but found 1 items"},
		{`{"anyOf": [{"type": "integer"}, {"type": "boolean"}]}`, `"2"`, `"2"`, `must be a whole number, and is "2", must be true or false, and is "2"`},
		{`{"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 0}]}`, `-1`, `-1`, "must be >= 0 but found -1"},
		{`{"anyOf": [{"type": "null"}, {"properties": {"a": {"type": "integer"}}}]}`, `{"a": "x"}`, `{"a": "x"}`, `a: must be a whole number, and is "x"`},
		{`{"properties": {"type": false}}`, `{"type": 1}`, `{"type": 1}`, "must not have 'type'"},
		{`{"unevaluatedProperties": false}`, `{"a": 1}`, `{"a": 1}`, "must not have 'a'"},

		{`{"required": ["a", "b"]}`, `{"a": null}`, `{}`, `must have 'a', 'b'`},
		{`{"properties": {"a": {}}, "additionalProperties": false}`, `{"c": 1, "b": 2}`, `{"c": 1, "b": 2}`, `must not have 'b', 'c'`},
		{`{"additionalProperties": {"type": "integer"}}`, `{"a/b~c %41é": "x"}`, `{"a/b~c %41é": "x"}`, `a/b~c %41é: must be a whole number, and is "x"`},
		{`{"properties": {"n": {"type": ["null", "string"]}}, "required": ["n"]}`, `{"n": null, "m": null}`, `{}`, ""}, // null is a value of n
	} {
		t.Run(c.schema+" "+c.field, func(t *testing.T) {
			s := compile(t, `{"properties": {"f": `+c.schema+`}}`)
			got, problems := s.Read(parse(t, `{"f": `+c.field+`}`))
			want := map[string]any{}
			if c.want != "" {
				want["f"] = parse(t, c.want)
			}
			if diff := cmp.Diff(any(want), got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			var texts []string
			for _, p := range problems {
				texts = append(texts, strings.TrimPrefix(strings.TrimPrefix(strings.Join(p.Path, ".")+": "+p.Message, "f: "), "f."))
			}
			if text := strings.Join(texts, ", "); text != c.problem {
				t.Errorf("got problem %q, want %q", text, c.problem)
			}
		})
	}
}

func TestWholeAndTouching(t *testing.T) {
	s := compile(t, `{"type": "object", "required": ["a"], "properties": {
		"a": {"type": "integer"}, "b": {"type": "object", "required": ["c"], "additionalProperties": false, "properties": {"c": {"type": "integer"}}}}}`)
	for _, c := range []struct{ doc, path, want string }{ // the message of the problem that touches the path
		{`{"a": 1}`, "", ""},
		{`{"a": "x"}`, "b", ""},
		{`{"a": "x"}`, "a", `must be a whole number, and is "x"`},
		{`{"a": "x"}`, "a deeper", `must be a whole number, and is "x"`},
		{`{"a": "x"}`, "", `must be a whole number, and is "x"`},
		{`{"a": 1, "b": {}}`, "b", "must have 'c'"},
		{`{"a": 1, "b": {}}`, "b c", "must have 'c'"},
		{`{"a": 1, "b": {}}`, "bc", ""},
		{`{"a": 1, "b": {"c": 1, "d": 1}}`, "b c", "must not have 'd'"},
		{`{"b": {"c": "x"}}`, "other", "whole: must have 'a'"},
		{`[1]`, "a", "whole: must be an object, and is [1]"},
		{`null`, "a", "whole: must be an object, and is null"},
	} {
		_, problems := s.Read(parse(t, c.doc))
		touching, ok := problems.Touching(strings.Fields(c.path))
		got := touching.Message
		if whole, is := problems.Whole(); is {
			got = "whole: " + whole.Message
		}
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s at %q: got %q, want %q", c.doc, c.path, got, c.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	s := compile(t, `{"properties": {
		"a": {"type": "integer", "default": 1.0},
		"list": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
		"map": {"additionalProperties": {"$ref": "#/$defs/entry"}},
		"made": {"type": "object", "default": {}, "properties": {"x": {"default": [{}], "items": {"$ref": "#/$defs/entry"}}}},
		"not": {"type": "object", "properties": {"x": {"default": 1}}},
		"both": {"allOf": [{"properties": {"l": {"default": 1}}}, {"properties": {"r": {"default": 2}}}]},
		"null": {"type": ["string", "null"], "default": "n"},
		"self": {"properties": {"x": {"default": 1}, "y": {"$ref": "#/$defs/self"}}}
	}, "$defs": {"self": {"default": {}, "properties": {"n": {"default": 1}, "y": {"$ref": "#/$defs/self"}}}, "entry": {"properties": {"done": {"type": "boolean", "default": false}}}}}`)
	for _, c := range []struct{ doc, want string }{
		{`{}`, `{"a": 1, "made": {"x": [{"done": false}]}, "null": "n"}`},
		{`{"a": null, "null": null, "extra": null}`, `{"a": 1, "made": {"x": [{"done": false}]}, "null": "n"}`},
		{`{"a": 2, "null": "", "made": {"x": []}, "list": [{}, {"done": true}], "map": {"k": {}}, "not": {}, "both": {"l": 3}, "self": {}}`,
			`{"a": 2, "null": "", "made": {"x": []}, "list": [{"done": false}, {"done": true}], "map": {"k": {"done": false}}, "not": {"x": 1}, "both": {"l": 3, "r": 2}, "self": {"x": 1, "y": {"n": 1, "y": {"n": 1}}}}`},
		{`[1]`, `[1]`},
	} {
		got, problems := s.Read(parse(t, c.doc))
		if diff := cmp.Diff(parse(t, c.want), got); diff != "" || problems != nil {
			t.Errorf("%s: problems %v (-want +got):\n%s", c.doc, problems, diff)
		}
		given := parse(t, c.doc)
		if diff := cmp.Diff(parse(t, c.want), s.Complete(given)); diff != "" {
			t.Errorf("%s, completed (-want +got):\n%s", c.doc, diff)
		}
		if diff := cmp.Diff(parse(t, c.doc), given); diff != "" {
			t.Errorf("%s is changed (-before +after):\n%s", c.doc, diff)
		}
	}
}

// Front matter has values that JSON does not have, and a program may give any.
func TestReadOtherValues(t *testing.T) {
	s := compile(t, `{"properties": {"n": {"type": "number"}}}`)
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		v, want any
		ok      bool
	}{
		{int64(3), 3, true},
		{uint64(1 << 63), float64(1 << 63), true},
		{json.Number("1e1"), 10, true},
		{json.Number("1e5000000"), math.MaxFloat64, true},
		{math.Inf(-1), -math.MaxFloat64, true},
		{math.NaN(), "NaN", false},
		{day, day.String(), false},
	} {
		got, problems := s.Read(map[string]any{"n": c.v})
		if diff := cmp.Diff(map[string]any{"n": c.want}, got); diff != "" || (problems == nil) != c.ok {
			t.Errorf("%v: problems %v (-want +got):\n%s", c.v, problems, diff)
		}
	}
	var none *schema.Schema
	if v, problems := none.Read(map[string]any{"a": nil, "b": 1.0}); !cmp.Equal(v, any(map[string]any{"b": 1})) || problems != nil || none.Type() != nil {
		t.Errorf("without schema: %v, %v", v, problems)
	}
}

func TestShipped(t *testing.T) {
	for _, name := range schema.ShippedNames() {
		src, _ := schema.Shipped(name)
		s, err := schema.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		v, problems := s.Read(map[string]any{})
		if problems != nil {
			t.Errorf("%s: an empty state has %v", name, problems)
		}
		if again, problems := s.Read(v); strings.HasSuffix(name, "-loop") && (problems != nil || !cmp.Equal(v, again)) {
			t.Errorf("%s: its defaults have %v", name, problems)
		}
	}
	for name, want := range map[string]int{"speckit-state": 1, "specum-state": 0} { // of specum, others are known too
		src, _ := schema.Shipped(name)
		if _, problems := compile(t, string(src)).Read(map[string]any{"phase": "brainstorm", "taskIndex": "3"}); len(problems) != want {
			t.Errorf("%s: a phase of its own has %v", name, problems)
		}
	}
	if _, ok := schema.Shipped("../schema"); ok || len(schema.ShippedNames()) < 2 {
		t.Errorf("shipped are %v", schema.ShippedNames())
	}
}

// A schema is shared by goroutines.
func TestConcurrent(t *testing.T) {
	s := compile(t, `{"properties": {"a": {"type": "integer"}, "b": {"default": {"c": []}}}}`)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 100 {
				if _, problems := s.Read(map[string]any{"a": i%2 == 0}); len(problems) != 1 {
					t.Errorf("problems %v", problems)
				}
				s.Complete(map[string]any{})
				s.Type().Expr()
			}
		})
	}
	group.Wait()
}

func FuzzRead(f *testing.F) {
	for _, c := range [][2]string{
		{`{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "default": 1}}}`, `{"a": "1"}`},
		{`{"items": {"$ref": "#"}, "default": [[]], "enum": [1, "a", null]}`, `[[[1e400]]]`},
		{`{"anyOf": [{"type": "null"}, {"additionalProperties": {"pattern": "a{2}"}}]}`, `{"~/%": "b"}`},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"multipleOf": 0.1}], "dependencies": {"a": ["b"]}}`, `[0.3]`},
	} {
		f.Add([]byte(c[0]), []byte(c[1]))
	}
	f.Fuzz(func(t *testing.T, src, doc []byte) {
		s, err := schema.Compile(src)
		v, other := schema.ParseJSON(doc)
		if err != nil || other != nil {
			return
		}
		s.Type().Expr()
		v, problems := s.Read(v)
		if again, _ := s.Read(v); problems == nil && !cmp.Equal(v, again) {
			t.Errorf("read twice: %v", cmp.Diff(v, again))
		}
	})
}

func Example() {
	s, err := schema.Compile([]byte(`{
		"type": "object",
		"properties": {
			"phase": {"enum": ["plan", "work"], "default": "plan"},
			"taskIndex": {"type": "integer", "default": 0}
		}
	}`))
	if err != nil {
		panic(err)
	}
	v, err := schema.ParseJSON([]byte(`{"taskIndex": "seven"}`))
	if err != nil {
		panic(err)
	}
	v, problems := s.Read(v)
	fmt.Println(v)
	for _, p := range problems {
		fmt.Println(p.Path, p.Message)
	}
	// Output:
	// map[phase:plan taskIndex:seven]
	// [taskIndex] must be a whole number, and is "seven"
}
