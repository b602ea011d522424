package jsonedit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPut(t *testing.T) {
	const hook = `{"hooks":[{"type":"command","command":"ralph","args":["eval","--policy","x"]}]}`
	at := func(path ...any) []any { return path }
	tests := []struct {
		name, src string
		path      []any
		value     string
		want      string // "" if it cannot be done
		err       string
	}{
		{
			name: "all the way down into an empty object", src: "{}\n", path: at("hooks", "Stop", 0), value: hook,
			want: `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ralph",
            "args": ["eval", "--policy", "x"]
          }
        ]
      }
    ]
  }` + "\t" + `
}
`,
		},
		{
			name: "behind other fields and elements, tabs and CRLF",
			src:  "{\r\n\t\"a\" : 1,\r\n\t\"l\" : [\r\n\t\t{\"x\" : 1}\r\n\t]\r\n}\r\n", path: at("l", 1), value: `{"y":[]}`,
			want: "{\r\n\t\"a\" : 1,\r\n\t\"l\" : [\r\n\t\t{\"x\" : 1},\r\n\t\t{\r\n\t\t\t\"y\" : []\r\n\t\t}\r\n\t]\r\n}\r\n",
		},
		{name: "a compact file stays compact", src: `{"a":1,"l":[1]}`, path: at("l", 1), value: `{"b": [1, 2]}`, want: `{"a":1,"l":[1,{"b":[1,2]}]}`},
		{name: "a file of one line", src: `{"a": 1}`, path: at("h", "s", 0), value: `{"b": [1, 2], "c": {}}`, want: `{"a": 1, "h": {"s": [{"b": [1, 2], "c": {}}]}}`},
		{name: "a list of one line in a file of many", src: "{\n  \"l\": [{\"a\": 1}]\n}", path: at("l", 1), value: `{"b":1}`, want: "{\n  \"l\": [{\"a\": 1}, {\"b\": 1}]\n}"},
		{name: "an empty list in a file of many", src: "{\n    \"l\": [ ]\n}", path: at("l", 0), value: `"x"`, want: "{\n    \"l\": [\n        \"x\"  ]\n}"},
		{name: "in place of null", src: "{\n  \"hooks\": null\n}", path: at("hooks", "Stop", 0), value: `1`, err: "edit it by hand"},
		{name: "in place of another value", src: "{\n  \"l\": [{\"a\": [1,2], \"b\": 3}]\n}", path: at("l", 0, "a"), value: `["x", "y"]`, want: "{\n  \"l\": [{\"a\": [\"x\", \"y\"], \"b\": 3}]\n}"},
		{name: "the last of duplicate fields", src: `{"l":[1],"l":[2]}`, path: at("l", 1), value: `3`, want: `{"l":[1],"l":[2,3]}`},
		{name: "the order of fields and escapes stay", src: `{}`, path: at("k"), value: `{"b":"<&>\u00e9","a":1e2}`, want: "{\n  \"k\": {\n    \"b\": \"<&>\\u00e9\",\n    \"a\": 1e2\n  }\t\n}"},

		{name: "past the end", src: `{"l":[1]}`, path: at("l", 2), value: `1`, err: "there is no element 2 in a list of 1"},
		{name: "before the start", src: `{"l":[1]}`, path: at("l", -1), value: `1`, err: "there is no element -1"},
		{name: "into a text", src: `{"l":"x"}`, path: at("l", "a"), value: `1`, err: `there is no object that could have the field "a", but a string`},
		{name: "into an object by number", src: `{"l":{}}`, path: at("l", 0), value: `1`, err: "there is no list that could have an element 0, but an object"},
		{name: "a value that is no JSON", src: `{}`, path: at("a"), value: `{`, err: "the new value is not JSON"},
		{name: "two values", src: `{}`, path: at("a"), value: `1 2`, err: "the new value is not JSON"},
		{name: "a broken file", src: "{\n  \"a\": 1,\n}", path: at("b"), value: `1`, err: "the file is not valid JSON: 3:1"},
		{name: "an empty file", src: "", path: at("b"), value: `1`, err: "the file is not valid JSON"},
		{name: "a file that is a list", src: "[]", path: at(0), value: `1`, err: "the file is not a JSON object but an array"},
		{name: "no path", src: "{}", value: `1`, err: "there is no path"},
		{name: "an odd path", src: "{}", path: at(1.5), value: `1`, err: "got float64"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(test.src)
			got, err := Put(src, test.path, []byte(test.value))
			if string(src) != test.src {
				t.Error("the source was changed")
			}
			checkEdit(t, got, err, test.want, test.err)
		})
	}
}

func TestCut(t *testing.T) {
	at := func(path ...any) []any { return path }
	tests := []struct {
		name, src string
		path      []any
		want, err string
	}{
		{name: "the only field", src: "{\n  \"a\": 1\n}\n", path: at("a"), want: "{}\n"},
		{name: "the first field", src: "{\n  \"a\": 1,\n\n  \"b\": 2\n}\n", path: at("a"), want: "{\n  \"b\": 2\n}\n"},
		{name: "one in the middle", src: "{\"a\": 1,\r\n\t\"b\": 2 ,\r\n\t\"c\": 3}", path: at("b"), want: "{\"a\": 1,\r\n\t\"c\": 3}"},
		{name: "the last", src: "{\n  \"a\": 1,\n  \"b\": [2]\n}\n", path: at("b"), want: "{\n  \"a\": 1\n}\n"},
		{name: "elements", src: `{"l": [ {"x": "]"}, 2, [3] ]}`, path: at("l", 1), want: `{"l": [ {"x": "]"}, [3] ]}`},
		{name: "the only element", src: "{\"l\": [\n  1\n]}", path: at("l", 0), want: `{"l": []}`},
		{name: "deep", src: `{"h": {"s": [{"a": 1, "b": 2}]}}`, path: at("h", "s", 0, "b"), want: `{"h": {"s": [{"a": 1}]}}`},

		{name: "not there", src: `{"a": 1}`, path: at("b"), err: `there is no field "b"`},
		{name: "no such element", src: `{"a": [1]}`, path: at("a", 1), err: "there is no element 1"},
		{name: "inside a number", src: `{"a": 1}`, path: at("a", "b"), err: `there is no object that could have the field "b", but a number`},
		{name: "a duplicate that would come to light", src: `{"a": 1, "a": 2}`, path: at("a"), err: "edit it by hand"},
		{name: "a broken file", src: "{", path: at("a"), err: "the file is not valid JSON: 1:2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(test.src)
			got, err := Cut(src, test.path)
			if string(src) != test.src {
				t.Error("the source was changed")
			}
			checkEdit(t, got, err, test.want, test.err)
		})
	}
}

func checkEdit(t *testing.T, got []byte, err error, want, wantErr string) {
	t.Helper()
	if wantErr != "" {
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("error %v, want one with %q", err, wantErr)
		}
		return
	}
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// What was put can be cut again, and the file is byte for byte as before.
func FuzzPutCut(f *testing.F) {
	for _, seed := range []struct{ src, path, value string }{
		{`{}`, `["hooks", "Stop", 0]`, `{"hooks": [{"args": ["a", "b"]}]}`},
		{"\ufeff{\r\n\t\"a\":1, \"l\": [ 1 ]}\r\n", `["l", 1]`, `[]`},
		{"{\n  \"l\": [\n    {\"x\": \"]\"}\n  ],\n\n  \"n\": null\n}\n", `["l", 1]`, `"\u2028"`},
		{`{"a": {"b": {}}, "a": {}}`, `["a", "b", "c"]`, `1e400`},
		{"{\"\xff\": null}", `["x"]`, `{"k":{"k":[[]]}}`},
		{`{"x": null}`, `["x"]`, `{}`},
		{`{"x": null}`, `["x", "y"]`, `1`},
	} {
		f.Add([]byte(seed.src), seed.path, seed.value)
	}
	f.Fuzz(func(t *testing.T, src []byte, pathText, value string) {
		var path []any
		if json.Unmarshal([]byte(pathText), &path) != nil {
			t.Skip()
		}
		for i := range path {
			if n, ok := path[i].(float64); ok {
				path[i] = int(n)
			}
		}
		put, err := Put(src, path, []byte(value))
		if err != nil {
			return
		}
		before, err := Decode(Uncommented(src))
		if err != nil {
			t.Fatalf("%q was edited though it is broken: %v", src, err)
		}
		old := before.Value
		depth := 0 // of what was there
		for ; depth < len(path); depth++ {
			inner, ok := at(old, path[depth])
			if !ok {
				break
			}
			old = inner
		}
		if depth == len(path) || old == nil {
			return // replaced
		}
		cut, err := Cut(put, path[:depth+1])
		if err != nil {
			t.Fatalf("%q became %q, of which %v cannot be cut: %v", src, put, path[:depth+1], err)
		}
		if string(cut) != string(src) {
			t.Fatalf("%q became %q and then %q", src, put, cut)
		}
	})
}

func at(v any, part any) (any, bool) {
	switch part := part.(type) {
	case string:
		object, ok := v.(map[string]any)
		inner, there := object[part]
		return inner, ok && there
	case int:
		list, ok := v.([]any)
		if !ok || part < 0 || part >= len(list) {
			return nil, false
		}
		return list[part], true
	}
	return nil, false
}
