package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

func TestParseJSON(t *testing.T) {
	tests := []struct {
		name, src string
		want      any
	}{
		{"byte order mark", "\xef\xbb\xbf{}", map[string]any{}},
		{"white space", " \r\n\t[ ] \n", []any{}},
		{"the last of duplicate keys", `{"a": {"b": 1}, "a": {"c": 2}}`, map[string]any{"a": map[string]any{"c": json.Number("2")}}},
		{"invalid UTF-8 in a text", "\"a\xff\"", "a\uFFFD"},
		{"half a surrogate pair", `"\ud800"`, "\uFFFD"},
		{"numbers of any size", `[1e5000000, 123456789012345678901234567890]`, []any{json.Number("1e5000000"), json.Number("123456789012345678901234567890")}},
		{"not an object", `null`, nil},
		{"brackets in texts", `["[{\"", "]\\"]`, []any{`[{"`, `]\`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustParse(t, tt.src).Value); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseJSONErrors(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"empty", "", "1:1: the document is blank, expected a JSON value such as {}"},
		{"blank", "\xef\xbb\xbf \n\t", "1:1: the document is blank, expected a JSON value such as {}"},
		{"torn", "{\n  \"taskIndex\": 2,\n  \"pha", "3:7: unexpected end of the document: something that was opened is not closed"},
		{"torn in a word", "[tr", "1:4: unexpected end of the document: something that was opened is not closed"},
		{"two documents", "{\"a\": 1}\n{\"a\": 2}", "2:1: a second JSON document begins here, expected one and nothing after it"},
		{"too many brackets", "{\"a\": 1}\n}", "2:1: unexpected '}' after the end of the document"},
		{"words after it", "{} # done", "1:4: unexpected '#' after the end of the document"},
		{"no JSON", "hello", "1:1: unexpected 'h'"},
		{"single quotes", "{'a': 1}", "1:2: unexpected ', strings and keys need double quotes"},
		{"a comment", "{\n  // why\n  \"a\": 1}", "2:3: unexpected '/', JSON has no comments"},
		{"a comma too many", "{\"é\": [1,\n ]}", "2:2: unexpected ']' after a comma, the last item has none"},
		{"a line break in a text", "{\"é\": \"a\nb\"}", `1:9: unexpected '\n': a string must end on its line, write \n or \t inside it`},
		{"a comma too few", `{"é": 1 "b": 2}`, `1:9: unexpected '"'`},
		{"YAML", "phase: plan", "1:1: unexpected 'p'"},
		{"a word", "{\"a\": True}", "1:7: unexpected 'T'"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "1:1: unexpected '�'"},
		{"too deep", `{"unread": ` + strings.Repeat("[", 100_000), "1:1011: arrays and objects are nested deeper than 1000 levels"},
		{"too big", strings.Repeat(" ", schema.MaxDocumentSize+1), "1:1: the document has 8388609 bytes, more than the 8388608 that are read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.ParseJSON([]byte(tt.src))
			if syntax := (*schema.SyntaxError)(nil); !errors.As(err, &syntax) {
				t.Fatalf("error %v, want a *SyntaxError", err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	doc := mustParse(t, "\xef\xbb\xbf{\r\n  \"é\": [1, {\"a/b\": null}],\n  \"\\u0061\": \"x\", \"b\": 1, \"b\": {\"c\": 2}\n}")
	tests := []struct {
		pointer   string
		line, col int
	}{
		{"", 1, 1},
		{"/é", 2, 8},
		{"/é/0", 2, 9},
		{"/é/1/a~1b", 2, 20},
		{"/a", 3, 13},
		{"/b", 3, 31},
		{"/b/c", 3, 37},
		{"/é/2", 0, 0},
		{"/é/00", 0, 0},
		{"/é/x", 0, 0},
		{"/a/0", 0, 0},
		{"/z", 0, 0},
	}
	for _, tt := range tests {
		if line, col := doc.Position(tt.pointer); line != tt.line || col != tt.col {
			t.Errorf("Position(%q) = %d:%d, want %d:%d", tt.pointer, line, col, tt.line, tt.col)
		}
	}
	if doc.Text != nil {
		t.Error("JSON has no plain scalars, so Text should be nil")
	}
}
