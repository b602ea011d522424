package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/schema"
)

func TestCompileFails(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{``, `s:1:1: the text is blank; write a JSON value such as {}`},
		{`{"type": "string",}`, `s:1:19: unexpected '}' after a comma`},
		{`3`, `s:1:1: must be an object or true or false, and is 3`},
		{"{\n \"type\": \"strng\"}", `s:2:10: must be one of "array", "boolean", "integer", "null", "number", "object", "string", and is the text "strng"`},
		{`{"properties": {"a": {"minimum": "1"}}}`, `s:1:34: must be a number, and is the text "1"`},
		{`{"required": [1]}`, `s:1:15: must be a text, and is 1`},
		{`{"pattern": "("}`, `s:1:13: '(' is not valid 'regex'`},
		{`{"items": {"$ref": "#/$defs/a"}}`, `s:1:20: there is no "#/$defs/a" in this schema`},
		{`{"$ref": "#/enum/-1", "enum": [1]}`, `s:1:10: there is no "#/enum/-1" in this schema`},
		{`{"$ref": "#a"}`, `s:1:1: #a not found`},
		{`{"$ref": "#"}`, `s:1:1: infinite loop #/$ref`},
		{`{"$ref": "file:///etc/passwd"}`, `s:1:10: "file:///etc/passwd" leaves this schema, and nothing else is read; copy it below $defs`},
		{`{"$ref": "other.json#/a"}`, `s:1:10: "other.json#/a" leaves this schema, and nothing else is read; copy it below $defs`},
		{`{"$dynamicRef": "http://example.com/"}`, `s:1:1: http://example.com/ is not known, and nothing is read`},
		{`{"$schema": "http://example.com/mine"}`, `s:1:1: http://example.com/mine is not known, and nothing is read`},
		{`{"properties": {"a": {"$ref": "#", "default": {}}}}`, `s:1:1: the defaults of the schema have no end, or are too large: one contains a value with the same default`},
	} {
		_, err := schema.Compile("s", []byte(c.src))
		var e *schema.Error
		if !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf("%s:\ngot  %v\nwant %s", c.src, err, c.want)
		}
	}
}

// chain returns a schema of n definitions, each with a keyword that has two references to the next one.
func chain(n int, format string) string {
	var b strings.Builder
	for i := range n {
		ref := fmt.Sprintf(`{"$ref": "#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&b, `"d%d": `+format+`, `, i, ref, ref)
	}
	return fmt.Sprintf(`{"$ref": "#/$defs/d0", "$defs": {%s"d%d": {"type": "integer"}}}`, b.String(), n)
}

// A schema and a document that would take years end in an error at once.
func TestBombs(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"allOf doubled", chain(40, `{"allOf": [%s, %s]}`), "expand to more than 1000000"},
		{"fields doubled", chain(40, `{"properties": {"a": %s, "b": %s}}`), "expand to more than 1000000"},
		{"nested", strings.Repeat(`{"items": `, 10_000) + `{}` + strings.Repeat(`}`, 10_000), "too large"},
		{"nested less", strings.Repeat(`{"allOf": [`, 100) + `{}` + strings.Repeat(`]}`, 100), "nested too deep"},
		{"a long list", `{"enum": [` + strings.Repeat(`1,`, 1<<19) + `1]}`, "larger than 1 MiB"},
		{"defaults doubled", chain(13, `{"default": {}, "properties": {"a": %s, "b": %s}}`), "defaults of the schema have no end"},
		{"a pattern", `{"pattern": "((a{100}){100}){100}"}`, "not valid 'regex'"},
		{"many patterns", `[` + strings.Repeat(`{"pattern": "a{1000}"},`, 10_000) + `{}]`, "too large"},
		{"a number", `{"minimum": 1e5000000, "maximum": -1e5000000, "multipleOf": 1e-5000000}`, "must be > 0"},
	} {
		if _, err := schema.Compile("s", []byte(c.src)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	deep := strings.Repeat(`{"c": `, 90) + `1` + strings.Repeat(`}`, 90)
	wide := "[" + strings.Repeat("1,", 1<<18) + "1]"
	for _, c := range []struct{ name, src, doc, want string }{
		{"recursive", `{"properties": {"c": {"$ref": "#"}}, "type": ["object", "integer"]}`, deep, ""},
		{"recursive, doubled", `{"allOf": [{"properties": {"c": {"$ref": "#"}}}, {"properties": {"c": {"$ref": "#"}}}]}`, deep, "too many steps"},
		{"recursive alternatives", `{"oneOf": [{"properties": {"c": {"$ref": "#"}, "t": {"const": 1}}, "required": ["t"]}, {"properties": {"c": {"$ref": "#"}}}]}`, deep, "too many steps"},
		{"too deep", `{}`, `{"a": ` + deep + `, "b": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "deeper than 100 levels"},
		{"many entries", `{"items": {"type": "integer"}}`, wide, ""},
		{"many entries, doubled", `{"items": {"allOf": [{"type": "integer"}` + strings.Repeat(`, {"minimum": 0}`, 200) + `]}}`, wide, "too many steps"},
	} {
		_, problems := compile(t, c.src).Read(parse(t, c.doc))
		whole, ok := problems.Whole()
		if ok != (c.want != "") || !strings.Contains(whole.Message, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, whole.Message, c.want)
		}
	}
}
