package jsonedit

import (
	"fmt"
	"testing"
)

func TestRepeated(t *testing.T) {
	for src, want := range map[string]string{
		`{}`:                                    "",
		`{"x": {"a": 1}, "y": {"a": 1}}`:        "",
		`{"a": 1, "a": 2, "x": {"a": 1}}`:       "", // outside of x
		`{"x": [{"a": 1}, {"a": 1}]}`:           "",
		`{"x": 1, "x": 2}`:                      "x 1:10",
		"\ufeff{\n \"x\": {}, \"\\u0078\": {}}": "x 2:11",
		`{"x": {"a": 1, "b": {}, "a": 2}}`:      "a 1:25",
		`{"é": 1, "x": [[{"a": 1, "a": {}}]]}`:  "a 1:26",
		`{"x": {"a": {"b": 1, "b": 1}}, "x":1}`: "b 1:22",
	} {
		got := ""
		if key, line, col, ok := Repeated([]byte(src), "x"); ok {
			got = fmt.Sprintf("%s %d:%d", key, line, col)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
}
