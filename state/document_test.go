package state

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewDocument(t *testing.T) {
	values := map[string]any{
		"phase": "execution", "taskIndex": 0, "ratio": 0.5, "on": true, "none": nil, "text": "a: \"b\" # <c>\nd", "yes": "no",
		"list": []any{1, "x"}, "object": map[string]any{"k": []any{}},
	}
	keys := []string{"phase", "missing", "taskIndex", "phase", "text"}
	for _, tt := range []struct {
		name   string
		format Format
		keys   []string
		values map[string]any
		body   string
		want   string
		err    string
	}{
		{"JSON", JSON, keys, values, "", `{
  "phase": "execution",
  "taskIndex": 0,
  "text": "a: \"b\" # <c>\nd",
  "list": [
    1,
    "x"
  ],
  "none": null,
  "object": {
    "k": []
  },
  "on": true,
  "ratio": 0.5,
  "yes": "no"
}
`, ""},
		{"front matter", FrontMatter, keys, values, "Do it.", `---
phase: execution
taskIndex: 0
text: "a: \"b\" # <c>\nd"
list: [1,"x"]
none: null
object: {"k":[]}
"on": true
ratio: 0.5
"yes": "no"
---

Do it.
`, ""},
		{"no fields in JSON", JSON, keys, nil, "", "{}\n", ""},
		{"no fields in front matter", LenientFrontMatter, nil, nil, "", "---\n---\n", ""},
		{"a body with fences", FrontMatter, nil, map[string]any{"a": "---"}, "---\nb: 1\n---\n", "---\na: \"---\"\n---\n\n---\nb: 1\n---\n", ""},
		{"a body of JSON", JSON, nil, nil, "b", "", "JSON has no body"},
		{"another format", Checklist, nil, nil, "", "", "a new checklist cannot be written, only JSON and front matter"},
		{"no number", JSON, nil, map[string]any{"n": math.NaN()}, "", "", "cannot set /n: the value cannot be written: json: unsupported value: NaN"},
		{"no value of a document", FrontMatter, nil, map[string]any{"n": func() {}}, "", "", "cannot set /n: the value cannot be written: json: unsupported type: func()"},
		{"two names that become one", FrontMatter, nil, map[string]any{"\xff": 1, "\xfe": 2}, "", "", "two names become one without the bytes that are not UTF-8"},
		{"too much", FrontMatter, nil, map[string]any{"a": strings.Repeat("x", maxMatterSize)}, "", "", "cannot set /a: has front matter that is too big: more than 256 KiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NewDocument(tt.format, tt.keys, tt.values, tt.body)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			failed := (*EditError)(nil)
			if errors.As(err, &failed); tt.err == "" && err != nil || tt.err != "" && (failed == nil || failed.Error() != tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

// FuzzNewDocument: every reader reads the content of a new document, in the requested order.
func FuzzNewDocument(f *testing.F) {
	for _, seed := range []string{"a", "yes", "08", "- x", "#", "a # b", "a: b", "é\u0085\u2028\u00a0", "\r\n", "---", "'", `"`, "\ufeff", "😀", "<<", "2026-11-20", "1e3", "&a", "*a", "!x", "|", "%", "@", "`", "\x00", "\xff", " a ", "a\tb", "null", "~", "?", "{", "[", "="} {
		f.Add(seed, seed, "7", seed)
		f.Add("k", "v: "+seed, `{"x": [`+string(mustJSON(f, seed))+`, 1.5, 10000000000000000000000, null]}`, seed+"\n---\n")
	}
	f.Fuzz(func(t *testing.T, key, text, other, body string) {
		var v any
		if json.Unmarshal([]byte(other), &v) != nil {
			v = other
		}
		values := map[string]any{key: text, "other": v, "last": 3}
		if len(values) < 3 || len(key) > 500 {
			return
		}
		order := []string{"other", key}
		src, err := NewDocument(JSON, order, values, "")
		if err != nil {
			t.Fatalf("JSON of %#v: %v", values, err)
		}
		doc, err := decodeEditable(src, JSON)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		again, err := NewDocument(JSON, order, values, "")
		if diff := cmp.Diff(string(src), string(again)); diff != "" || err != nil {
			t.Fatalf("the second time differs (-first +second), error %v\n%s", err, diff)
		}

		if src, err = NewDocument(FrontMatter, order, values, body); err != nil {
			t.Fatalf("front matter of %#v: %v", values, err)
		}
		strict, err := decodeFrontMatter(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		lenient, err := decodeLenient(src, nil)
		if err != nil || len(lenient.remarks)+len(lenient.unusable) > 0 {
			t.Fatalf("%s: read leniently: %v, %v, %v", src, lenient.remarks, lenient.unusable, err)
		}
		if diff := cmp.Diff(strict.value, lenient.value); diff != "" {
			t.Errorf("%s (-strict +lenient)\n%s", src, diff)
		}
		var names []string
		for i := 0; i < len(strict.fields.Content); i += 2 {
			names = append(names, strict.fields.Content[i].Value)
		}
		if want := []string{"other", cleanText(key), "last"}; !slices.Equal(names, want) {
			t.Errorf("%s has the fields %q, want %q", src, names, want)
		}
		if strict.value[cleanText(key)] != cleanText(text) || doc.value[cleanText(key)] != cleanText(text) {
			t.Errorf("%s: the text is %#v, in JSON %#v, want %q", src, strict.value[cleanText(key)], doc.value[cleanText(key)], text)
		}
		if want := body; strings.TrimSuffix(strings.TrimPrefix(string(strict.body), "\n"), "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("the body is %q, want %q", strict.body, want)
		}
	})
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
