package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/schema"
)

func TestCompileFails(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{``, `line 1, column 1: the text is blank; write a JSON value such as {}`},
		{`{"type": "string",}`, `line 1, column 19: invalid character '}' looking for beginning of object key string`},
		{`3`, `must be an object or true or false, and is 3`},
		{"{\n \"type\": \"strng\"}", `type must be one of "array", "boolean", "integer", "null", "number", "object", "string", and is "strng"`},
		{`{"properties": {"a": {"minimum": "1"}}}`, `properties.a.minimum must be a number, and is "1"`},
		{`{"required": [1]}`, `required.0 must be a text, and is 1`},
		{`{"pattern": "("}`, `pattern '(' is not valid 'regex'`},
		{`{"items": {"$ref": "#/$defs/a"}}`, `#/$defs/a not found`},
		{`{"$ref": "#/enum/-1", "enum": [1]}`, `#/enum/-1 not found`},
		{`{"$ref": "#a"}`, `#a not found`},
		{`{"$ref": "#"}`, `infinite loop #/$ref`},
		{`{"$ref": "file:///etc/passwd"}`, `file:///etc/passwd is not in this schema, and nothing else is read: copy what you need below $defs`},
		{`{"$ref": "other.json#/a"}`, `other.json is not in this schema, and nothing else is read: copy what you need below $defs`},
		{`{"$dynamicRef": "http://example.com/"}`, `http://example.com/ is not in this schema, and nothing else is read: copy what you need below $defs`},
		{`{"$schema": "http://example.com/mine"}`, `http://example.com/mine is not in this schema, and nothing else is read: copy what you need below $defs`},
	} {
		_, err := schema.Compile([]byte(c.src))
		if err == nil || err.Error() != c.want {
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

// What a schema would make endless, or too large, is an error at once.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"nested", strings.Repeat(`{"items": `, 10_000) + `{}` + strings.Repeat(`}`, 10_000), "exceeded max depth"},
		{"a long list", `{"enum": [` + strings.Repeat(`1,`, 1<<19) + `1]}`, "larger than 256 KiB"},
		{"doubled forty times", chain(40, `{"allOf": [%s, %s]}`), "expand to more than 1000000 parts"},
		{"fields doubled", chain(40, `{"properties": {"a": %s, "b": %s}}`), "expand to more than 1000000 parts"},
		{"a pattern", `{"pattern": "((a{100}){100}){100}"}`, "not valid 'regex'"},
		{"a number", `{"minimum": 1e5000000, "maximum": -1e5000000, "multipleOf": 1e-5000000}`, "must be > 0"},
	} {
		if _, err := schema.Compile([]byte(c.src)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
	nested := `{"a": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`
	_, problems := compile(t, `{}`).Read(parse(t, nested))
	if whole, ok := problems.Whole(); !ok || whole.Message != "must not be nested deeper than 100 levels" {
		t.Errorf("a nested document: %v", problems)
	}
}
