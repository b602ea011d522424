package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A schema with a rare keyword is judged as a whole: what is left over depends on which alternative holds.
func TestLibrary(t *testing.T) {
	const src = `{"$id": "state", "type": "object",
		"allOf": [{"properties": {"a": {"type": "integer", "minimum": 1}}}],
		"anyOf": [{"properties": {"kind": {"const": "x"}, "b": {"format": "json-pointer"}}, "required": ["kind"]}, {"maxProperties": 1}],
		"unevaluatedProperties": false}`
	for doc, want := range map[string][]string{
		`{"a": 1, "kind": "x", "b": "/c"}`: nil,
		`{"a": 1, "kind": "x", "b": "c"}`:  {": fits none of the alternatives: 'c' is not valid 'json-pointer'; or maximum 1 properties allowed, but found 3 properties", "/kind: is not allowed here", "/b: is not allowed here"},
		`{"a": 0}`:                         {"/a: is not allowed here", "/a: must be >= 1 but found 0"},
		`{"b": "/c"}`:                      {"/b: is not allowed here"},
	} {
		var got []string
		r := mustCheck(t, src, doc)
		for _, v := range append(r.Warnings, r.Unusable...) {
			got = append(got, v.Pointer+": "+v.Message)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", doc, diff)
		}
	}
}

func TestLibraryRefuses(t *testing.T) {
	for src, want := range map[string]string{
		`{"unevaluatedProperties": 1}`:                                                           "expected a schema",
		`{"unevaluatedItems": false, "$defs": {"a": {"$anchor": "/"}}}`:                          "the schema cannot be used",
		`{"unevaluatedItems": false, "$defs": {` + many(2000, `"a%d":{"type":"integer"}`) + `}}`: "at most 1000 schemas",
	} {
		if _, err := Compile("s.json", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: the error is %v, want %s", src, err, want)
		}
	}
}
