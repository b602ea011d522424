package state

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func at(steps ...any) []any { return steps }

func TestSetJSON(t *testing.T) {
	for _, test := range []struct {
		name, src string
		path      []any
		value     any
		want, err string
	}{
		{"only the value", "{ \"a\" :\t1 ,\r\n  \"b\":[1, 2 ]}\r\n", at("b", 1), "x", "{ \"a\" :\t1 ,\r\n  \"b\":[1, \"x\" ]}\r\n", ""},
		{"byte order mark", "\ufeff{\"a\":1}", at("a"), 2, "\ufeff{\"a\":2}", ""},
		{"big and odd numbers beside it", `{"n": 1e500, "m": 123456789012345678901234567890, "x": -0.0, "a": 1}`, at("a"), 2, `{"n": 1e500, "m": 123456789012345678901234567890, "x": -0.0, "a": 2}`, ""},
		{"bytes that are not UTF-8 beside it", "{\"n\": \"\xff\", \"a\": 1}", at("a"), 2, "{\"n\": \"\xff\", \"a\": 2}", ""},
		{"escapes in keys", `{"\u0061\/\"": 1, "é": 2}`, at("a/\""), 3, `{"\u0061\/\"": 3, "é": 2}`, ""},
		{"brackets and quotes in texts", `{"x": "}]\\\"{", "y": [{"z": "["}], "a": 1}`, at("a"), 2, `{"x": "}]\\\"{", "y": [{"z": "["}], "a": 2}`, ""},
		{"no escapes for web pages", `{"a": 1}`, at("a"), "<&>\né", `{"a": "<&>\né"}`, ""},
		{"a whole number", `{"a": 1}`, at("a"), 2.0, `{"a": 2}`, ""},
		{"a list of the top", `[1, 2]`, at(1), nil, `[1, null]`, ""},
		{"comments", "{\n  // one\n  \"a\": 1, // two\n  /* three */ \"b\": 2,\n}", at("a"), 3, "{\n  // one\n  \"a\": 3, // two\n  /* three */ \"b\": 2,\n}", ""},
		{"a duplicate elsewhere", `{"a": 1, "a": 2, "b": 3}`, at("b"), 4, `{"a": 1, "a": 2, "b": 4}`, ""},

		{"new field, on lines", "{\n  \"a\": 1,\n\n  \"b\": 2\n}\n", at("c"), 3, "{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"c\": 3\n}\n", ""},
		{"new field, tabs and CRLF", "{\r\n\t\"a\":1\r\n}", at("c"), 3, "{\r\n\t\"a\":1,\r\n\t\"c\":3\r\n}", ""},
		{"new field, on one line", `{"a": 1, "b": 2}`, at("c"), 3, `{"a": 1, "b": 2, "c": 3}`, ""},
		{"new field, compact", `{"a":1}`, at("c"), 3, `{"a":1,"c":3}`, ""},
		{"new field, a comma before the bracket", "{\n  \"a\": 1,\n}", at("c"), 3, "{\n  \"a\": 1,\n  \"c\": 3,\n}", ""},
		{"new field, in an element", "{\"l\": [\n  {\"x\": 1},\n  {\"x\": 2}\n]}", at("l", 1, "s"), "done", "{\"l\": [\n  {\"x\": 1},\n  {\"x\": 2, \"s\": \"done\"}\n]}", ""},
		{"new field, in an empty object", "{\n    \"a\" : {},\n    \"l\": 1\n}", at("a", "x"), 1, "{\n    \"a\" : {\n        \"x\": 1\n    },\n    \"l\": 1\n}", ""},
		{"new field, beside a comment", "{\n  // none yet\n}", at("x"), 1, "{\n  \"x\": 1\n  // none yet\n}", ""},
		{"new field with objects around it", `{"a":1}`, at("b", "c", "d"), 2, `{"a":1,"b":{"c":{"d":2}}}`, ""},
		{"null counts as absent", `{"a": null}`, at("a", "b"), 2, `{"a": {"b":2}}`, ""},
		{"an object on lines", "{\r\n\t\"a\": 1\r\n}", at("a"), map[string]any{"k": []any{}}, "{\r\n\t\"a\": {\r\n\t\t\"k\": []\r\n\t}\r\n}", ""},
		{"the whole", " {\n  \"a\": 1\n}\n", at(), map[string]any{"b": 2}, " {\n  \"b\": 2\n}\n", ""},
		{"a new text", "", at(), map[string]any{"b": []any{2}}, "{\n  \"b\": [\n    2\n  ]\n}\n", ""},
		{"a field of a new text", "\n", at("a", "b"), "x", "{\n  \"a\": {\n    \"b\": \"x\"\n  }\n}\n", ""},

		{"duplicate key", `{"a": 1, "a": {"b": 2}}`, at("a", "b"), 3, "", `cannot set a: the key "a" appears twice: remove one of them`},
		{"no such element", `{"a": [1]}`, at("a", 1), 1, "", "cannot set a[1]: there is a list of 1 elements"},
		{"no list", `{"a": {}}`, at("a", "b", 0), 1, "", "cannot set a.b: there is no list that could have an element 0"},
		{"element of an object", `{"a": {}}`, at("a", 0), 1, "", "cannot set a[0]: there is an object, which has no element by number"},
		{"element of nothing", `{"a": null}`, at("a", 0), 1, "", "cannot set a[0]: the value has no fields and no elements"},
		{"field of a number", `{"a": 1}`, at("a", "c"), 1, "", "cannot set a.c: the value has no fields and no elements"},
		{"field of a list", `[]`, at("c"), 1, "", "cannot set c: there is a list of 0 elements"},
		{"no JSON value", `{}`, at("a"), math.NaN(), "", "json: unsupported value: NaN"},
		{"broken text", `{"a": 1`, at("a"), 1, "", "line 1, column 7"},
		{"broken text with many brackets", strings.Repeat("[", 1<<20), at(0), 1, "", "exceeded max depth"},
		{"too large", `{"a": "` + strings.Repeat("x", maxEdited) + `"}`, at("a"), 1, "", "is larger than 2 MiB"},
		{"UTF-16", "\xff\xfe{\x00}\x00", at("a"), 1, "", "UTF-16"},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(test.src)
			got, err := SetJSON(src, test.path, test.value)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
			if string(src) != test.src {
				t.Error("the caller's bytes have changed")
			}
		})
	}
}

// An edit replaces the bytes of one value, or adds some in one place; all other values are equal afterwards.
func FuzzSetJSON(f *testing.F) {
	for _, seed := range []struct{ src, path, value string }{
		{`{"a": 1}`, `["a"]`, `2`},
		{"\ufeff{\r\n  \"a\": [ {\"b\" : \"x\\\"\"} ]\r\n}", `["a", 0, "b"]`, `{"k": [null]}`},
		{`{"a": {"b": {"c": 1e400}}, "b": ""}`, `["a", "b", "d", "e"]`, `"é\u2028"`},
		{"{\"\xff\": 1, \"\\ud800\": 2}", `["\ud800"]`, `1.5`},
		{"{\n\t\"x\":[1,\n2 ],\"y\":{ }}", `["y", "z"]`, `true`},
		{"{// c\n\"x\":1,}", `["y"]`, `{}`}, {"[null]", `[0, "a"]`, `[]`}, {" 1 ", `[]`, `0`},
	} {
		f.Add([]byte(seed.src), seed.path, seed.value)
	}
	f.Fuzz(func(t *testing.T, src []byte, pathText, valueText string) {
		p, err := ParseJSON([]byte(pathText))
		steps, ok := p.([]any)
		value, err2 := ParseJSON([]byte(valueText))
		before, err3 := ParseJSON(src)
		if err != nil || err2 != nil || err3 != nil || !ok {
			return // comments have no second reader
		}
		got, err := SetJSON(src, steps, value)
		if err != nil {
			return
		}
		after, err := ParseJSON(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", src, got, err)
		}
		if diff := cmp.Diff(assign(before, steps, value), after); diff != "" {
			t.Fatalf("%q became %q, -want +got:\n%s", src, got, diff)
		}
		// Where the value is, the parser says; the path through a text without duplicates is plain.
		text := bytes.TrimPrefix(src, bom)
		root, _ := parseJSONC(text)
		v := &root
		for _, step := range steps {
			if v, _, _ = member(v, step); v == nil {
				prefix := 0
				for prefix < len(src) && prefix < len(got) && src[prefix] == got[prefix] {
					prefix++
				}
				rest := bytes.TrimLeft(src[prefix:], " \t\r\n") // white space of an empty object may go
				if !bytes.HasSuffix(got, rest) && !bytes.Contains(src, []byte("null")) {
					t.Errorf("%q became %q, which is more than one addition", src, got)
				}
				return
			}
		}
		got = bytes.TrimPrefix(got, bom)
		if !bytes.HasPrefix(got, text[:v.StartOffset]) || !bytes.HasSuffix(got, text[v.EndOffset:]) {
			t.Errorf("%q became %q, which differs beside the value", src, got)
		}
	})
}

// assign sets a value in a decoded document.
func assign(v any, steps []any, value any) any {
	if len(steps) == 0 {
		b, _ := json.Marshal(value)
		value, _ = ParseJSON(b)
		return value
	}
	switch step := steps[0].(type) {
	case int:
		list := v.([]any)
		list[step] = assign(list[step], steps[1:], value)
		return list
	default:
		object, ok := v.(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		object[step.(string)] = assign(object[step.(string)], steps[1:], value)
		return object
	}
}
