package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/schema"
)

func set(value any, path ...any) Set { return Set{Path: path, Value: value} }

func TestEditJSON(t *testing.T) {
	tests := []struct {
		name, src string
		sets      []Set
		want      string // "" if src cannot be edited so
		err       string
	}{
		{name: "only the value", src: "{ \"a\" :\t1 ,\r\n  \"b\":[1, 2 ]}\r\n", sets: []Set{set(7, "a"), set("x", "b", 1)}, want: "{ \"a\" :\t7 ,\r\n  \"b\":[1, \"x\" ]}\r\n"},
		{name: "byte order mark", src: "\ufeff{\"a\":1}", sets: []Set{set(2, "a")}, want: "\ufeff{\"a\":2}"},
		{name: "big and odd numbers beside it", src: `{"n": 1e5000000, "m": 123456789012345678901234567890, "x": -0.0, "a": 1}`, sets: []Set{set(2, "a")}, want: `{"n": 1e5000000, "m": 123456789012345678901234567890, "x": -0.0, "a": 2}`},
		{name: "bytes that are no UTF-8 beside it", src: "{\"n\": \"\xff\", \"a\": 1}", sets: []Set{set(2, "a")}, want: "{\"n\": \"\xff\", \"a\": 2}"},
		{name: "the last duplicate", src: `{"a": 1, "a": {"b": 2, "b": 3}}`, sets: []Set{set(9, "a", "b")}, want: `{"a": 1, "a": {"b": 2, "b": 9}}`},
		{name: "escapes in keys", src: `{"\u0061\/\"": 1, "é": 2}`, sets: []Set{set(3, "a/\""), set(4, "é")}, want: `{"\u0061\/\"": 3, "é": 4}`},
		{name: "brackets and quotes in text", src: `{"x": "}]\\\"{", "y": [{"z": "["}], "a": 1}`, sets: []Set{set(2, "a")}, want: `{"x": "}]\\\"{", "y": [{"z": "["}], "a": 2}`},
		{name: "kinds of values", src: `{"a": 1}`, sets: []Set{set(nil, "a"), set(true, "b"), set(2.5, "c"), set(2.0, "d"), set("<&>\n\u2028é", "e"), set([]any{1, "x"}, "f"), set(map[string]any{"k": nil}, "g")},
			want: `{"a": null, "b": true, "c": 2.5, "d": 2, "e": "<&>\n\u2028é", "f": [1,"x"], "g": {"k":null}}`},
		{name: "text that is no UTF-8", src: `{"a": 1}`, sets: []Set{set("x\xff\xfey", "a")}, want: "{\"a\": \"x\ufffd\ufffdy\"}"},
		{name: "an object for a value", src: `{"a": {"b": [1, {"c": 2}]}}`, sets: []Set{set(3, "a", "b", 1, "c"), set(4, "a", "b", 0)}, want: `{"a": {"b": [4, {"c": 3}]}}`},

		{name: "new field, indented", src: "{\n  \"a\": 1,\n\n  \"b\": 2\n}\n", sets: []Set{set(3, "c")}, want: "{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"c\": 3\n}\n"},
		{name: "new field, tabs and CRLF", src: "{\r\n\t\"a\":1\r\n}", sets: []Set{set(3, "c")}, want: "{\r\n\t\"a\":1,\r\n\t\"c\":3\r\n}"},
		{name: "new field, behind a blank line", src: "{\r\n  \"a\":1,\r\n\r\n  \"b\":2\r\n}", sets: []Set{set(3, "c")}, want: "{\r\n  \"a\":1,\r\n\r\n  \"b\":2,\r\n  \"c\":3\r\n}"},
		{name: "new field on one line", src: `{"a": 1, "b": 2}`, sets: []Set{set(3, "c")}, want: `{"a": 1, "b": 2, "c": 3}`},
		{name: "new field, compact", src: `{"a":1}`, sets: []Set{set(3, "c")}, want: `{"a":1,"c":3}`},
		{name: "new field, one before it", src: `{ "a": 1 }`, sets: []Set{set(3, "c")}, want: `{ "a": 1, "c": 3 }`},
		{name: "new field in a list's object", src: "{\"l\": [\n  {\"x\": 1},\n  {\"x\": 2}\n]}", sets: []Set{set("done", "l", 1, "s")}, want: "{\"l\": [\n  {\"x\": 1},\n  {\"x\": 2, \"s\": \"done\"}\n]}"},
		{name: "into an empty object", src: `{}`, sets: []Set{set(1, "a")}, want: `{"a": 1}`},
		{name: "into an empty object with lines", src: "{\n}\n", sets: []Set{set(1, "a")}, want: "{\"a\": 1}\n"},
		{name: "into an empty object of an indented file", src: "{\n    \"a\" : {},\n    \"l\" : [ { } ]\n}", sets: []Set{set(1, "a", "x"), set(2, "l", 0, "y")}, want: "{\n    \"a\" : {\n        \"x\" : 1\n    },\n    \"l\" : [ {\n        \"y\" : 2\n    } ]\n}"},

		{name: "no such element", src: `{"a": [1]}`, sets: []Set{set(1, "a", 1)}, err: "cannot set /a/1: there is no element 1 in a list of 1"},
		{name: "negative element", src: `{"a": [1]}`, sets: []Set{set(1, "a", -1)}, err: "cannot set /a/-1: there is no element -1 in a list of 1"},
		{name: "no such object", src: `{"a": 1}`, sets: []Set{set(1, "b", "c")}, err: `cannot set /b/c: there is no field "b"`},
		{name: "field of a number", src: `{"a": 1}`, sets: []Set{set(1, "a", "c")}, err: `cannot set /a/c: there is no object that could have the field "c", but a number`},
		{name: "element of an object", src: `{"a": {}}`, sets: []Set{set(1, "a", 0)}, err: `cannot set /a/0: there is no list that could have an element 0, but an object`},
		{name: "no path", src: `{}`, sets: []Set{set(1)}, err: "there is no path: name the field to set"},
		{name: "odd path", src: `{}`, sets: []Set{set(1, 2.5)}, err: "a path must consist of strings and whole numbers; got float64"},
		{name: "not a number", src: `{"a": 1}`, sets: []Set{set(math.NaN(), "a")}, err: "the value cannot be written: json: unsupported value: NaN"},
		{name: "odd value", src: `{"a": 1}`, sets: []Set{set([]any{func() {}}, "a")}, err: "the value cannot be written: json: unsupported type: func()"},
		{name: "broken file", src: `{"a": 1`, sets: []Set{set(1, "a")}, err: "the file is not valid JSON: 1:8: "},
		{name: "one of two fails", src: `{"a": 1}`, sets: []Set{set(2, "a"), set(1, "b", "c")}, err: "cannot set /b/c"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(test.src)
			got, err := Edit(src, JSON, test.sets)
			if test.err != "" {
				var refused *EditError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want an EditError with %q", err, test.err)
				}
				return
			}
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			if string(src) != test.src {
				t.Error("the source was changed")
			}
		})
	}
}

// A large file takes a moment to edit, see TestChecklistHuge.
func TestEditJSONHuge(t *testing.T) {
	for _, unit := range []string{" ", "\n", `"k":1,`, `"k":{},`, `"l":[[],"]"],`, `"a":{"b":1},`} {
		src := "{" + strings.Repeat(unit, (1<<17)/len(unit)) + `"a": {"b": 1}}`
		want := strings.TrimSuffix(src, "1}}") + `2, "c": 3}}`
		got, err := Edit([]byte(src), JSON, []Set{set(2, "a", "b"), set(3, "a", "c")})
		if err != nil || string(got) != want {
			t.Errorf("%q: error %v, %d bytes, want %d", unit, err, len(got), len(want))
		}
	}
}

func TestEditOtherFormats(t *testing.T) {
	for _, format := range []Format{Text, Checklist, 99} {
		if got, err := Edit([]byte("x"), format, nil); !errors.As(err, new(*EditError)) {
			t.Errorf("Edit(%v) = %q, %v", format, got, err)
		}
	}
}

// An edit replaces exactly the bytes of one value: what precedes and follows it stays,
// and all other values are equal. The standard library finds the place of the value here,
// not the code under test.
func FuzzEditJSON(f *testing.F) {
	for _, seed := range []struct{ src, path, value string }{
		{`{"a": 1}`, `["a"]`, `2`},
		{"\ufeff{\r\n  \"a\": {},\r\n  \"a\": [ {\"b\" : \"x\\\"\"} ]\r\n}", `["a", 0, "b"]`, `{"k": [null]}`},
		{`{"a": {"b": {"c": 1e400}}, "b": ""}`, `["a", "b", "d"]`, `"é\u2028"`},
		{"{\"\xff\": 1, \"\\ud800\": 2}", `["\ud800"]`, `1.5`},
		{"{\n\t\"x\":[1,\n2 ],\"y\":{ }}", `["y", "z"]`, `true`},
	} {
		f.Add([]byte(seed.src), seed.path, seed.value)
	}
	f.Fuzz(func(t *testing.T, src []byte, pathText, valueText string) {
		var path []any
		if json.Unmarshal([]byte(pathText), &path) != nil {
			t.Skip()
		}
		for i := range path {
			if n, ok := path[i].(float64); ok {
				path[i] = int(n)
			}
		}
		var value any
		if json.Unmarshal([]byte(valueText), &value) != nil {
			t.Skip()
		}
		got, err := Edit(src, JSON, []Set{{Path: path, Value: value}})
		if err != nil {
			return
		}
		before, err := jsonedit.Decode(src)
		if err != nil {
			t.Fatalf("%q was edited though it is broken: %v", src, err)
		}
		after, err := jsonedit.Decode(got)
		if err != nil {
			t.Fatalf("%q became %q, which is broken: %v", src, got, err)
		}
		want, err := Set{Path: path, Value: value}.clean()
		if err != nil {
			t.Fatal(err)
		}
		model, err := jsonedit.Assign(before.Value, path, want.Value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(model, after.Value); diff != "" {
			t.Fatalf("%q became %q (-want +got):\n%s", src, got, diff)
		}

		pointer := schema.PointerOf(path)
		if line, _ := before.Position(pointer); line == 0 {
			if !isInsertion(src, got) {
				t.Errorf("%q became %q, which is more than one addition", src, got)
			}
			return
		}
		at, end := valueAt(t, src, before, pointer)
		gotAt, gotEnd := valueAt(t, got, after, pointer)
		if !bytes.Equal(src[:at], got[:gotAt]) || !bytes.Equal(src[end:], got[gotEnd:]) {
			t.Errorf("%q became %q, which differs beside the value at %d", src, got, at)
		}
	})
}

// valueAt finds the bytes of the value at a pointer.
func valueAt(t *testing.T, src []byte, doc schema.Document, pointer string) (start, end int) {
	t.Helper()
	line, col := doc.Position(pointer)
	start = len(src) - len(trimBOM(src))
	for ; line > 1; line-- {
		start += bytes.IndexByte(src[start:], '\n') + 1
	}
	for ; col > 1; col-- {
		_, size := utf8.DecodeRune(src[start:])
		start += size
	}
	dec := json.NewDecoder(bytes.NewReader(src[start:]))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		t.Fatalf("there is no value at %d of %q: %v", start, src, err)
	}
	return start, start + len(raw)
}

// isInsertion reports whether got is src with one piece added.
func isInsertion(src, got []byte) bool {
	prefix := 0
	for prefix < len(src) && prefix < len(got) && src[prefix] == got[prefix] {
		prefix++
	}
	// In an empty object the white space between the brackets may go.
	left := bytes.TrimLeft(src[prefix:], " \t\r\n")
	return len(got) > prefix+len(left) && bytes.HasSuffix(got, left)
}

// On the way to a value, what is missing or null is written as its default, and what has
// none stays missing.
func TestEditWithDefaults(t *testing.T) {
	s, err := schema.Compile("s.json", []byte(`{"properties": {
		"o": {"default": {"y": 1}, "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}, "in": {"default": {}, "properties": {"z": {"type": "integer"}}}}},
		"list": {"type": "array", "items": {"properties": {"o": {"default": {}, "properties": {"x": {"type": "integer"}}}}}},
		"declared": {"properties": {"x": {"type": "integer"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, src, want, err string
		path                 []any
	}{
		{"an absent object", `{"a": 1}`, `{"a": 1, "o": {"in":{},"x":7,"y":1}}`, "", []any{"o", "x"}},
		{"null", `{"o": null}`, `{"o": {"in":{},"x":7,"y":1}}`, "", []any{"o", "x"}},
		{"an object in a default", `{"a": 1}`, `{"a": 1, "o": {"in":{"z":7},"y":1}}`, "", []any{"o", "in", "z"}},
		{"an object that is there", `{"o": {}}`, `{"o": {"x": 7}}`, "", []any{"o", "x"}},
		{"an object in one that is there", `{"o": {}}`, `{"o": {"in": {"z":7}}}`, "", []any{"o", "in", "z"}},
		{"in an element", `{"list": [{}]}`, `{"list": [{"o": {"x":7}}]}`, "", []any{"list", 0, "o", "x"}},
		{"no default", `{}`, "", `cannot set /declared/x: there is no field "declared"`, []any{"declared", "x"}},
		{"not declared", `{}`, "", `cannot set /other/x: there is no field "other"`, []any{"other", "x"}},
		{"no element", `{"list": []}`, "", "cannot set /list/0/o/x: there is no element 0 in a list of 0", []any{"list", 0, "o", "x"}},
		{"something else is there", `{"o": 5}`, "", `there is no object that could have the field "x", but a number`, []any{"o", "x"}},
	} {
		got, err := Edit([]byte(c.src), JSON, []Set{{Path: c.path, Value: 7, Type: s}})
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %s, error %v", c.name, got, err)
		}
	}
	if want := map[string]any{"in": map[string]any{}, "y": 1}; !reflect.DeepEqual(s.At("o").Default, want) {
		t.Errorf("the default of the schema is %v now", s.At("o").Default)
	}
}
