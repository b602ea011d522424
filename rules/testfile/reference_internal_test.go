package testfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/reference"
)

// The page about test files says what their grammar says.
func TestTestKeysPage(t *testing.T) {
	p := reference.New(t, "test-keys", "Keys of a test file")
	p.Text("All keys of `NAME_test.yaml`, the tests beside a policy. [Testing a policy](../testing.md) explains them. A key that is not here is an error. " +
		"`ralph schema test` prints the same as JSON Schema, for editors.")
	section := func(title, about string, ks keys) {
		p.Section(2, title)
		p.Text("%s", about)
		rows := [][]string{{"key", "value", "meaning"}}
		for _, k := range ks {
			rows = append(rows, []string{reference.Code(k.name), words(k.schema), k.doc})
		}
		p.Table(rows...)
	}
	section("The top level", "`tests` must be there.", fileKeys())
	section("A test", "`name` and `expect` must be there.", testKeys())
	section("given", "What the policy sees. A test sees nothing else.", givenKeys())
	section("A file", "An entry of `given.files` is the text of a file, or has these keys. `null` takes away a file that the file's own `given` has.", sourceKeys())
	section("A message", "An entry of `given.transcript` has one of these keys.", messageKeys())
	section("loop", "Keys of `given.loop`.", loopKeys())
	section("expect", "At least one of these keys must be there.", expectKeys())
	section("An effect", fmt.Sprintf("An entry of `expect.effects` and `expect.finally` has one of %s, or a verb that a program has of its own.",
		reference.Code(effectKeys().names()...)), effectKeys())
	section("prune", "Keys of `prune` in an effect.", pruneKeys())
	p.Check()
}

// words says what a key takes, from its schema.
func words(schema map[string]any) string {
	one := func(name any) string {
		text := fmt.Sprint(name)
		return map[string]string{"string": "text", "boolean": "`true` or `false`", "integer": "whole number", "null": "`null`"}[text] + map[string]string{"number": "number", "object": "object"}[text]
	}
	if alternatives, ok := schema["anyOf"].([]any); ok {
		var out []string
		for _, s := range alternatives {
			out = append(out, words(s.(map[string]any)))
		}
		return join(out)
	}
	if values, ok := schema["enum"].([]any); ok {
		var out []string
		for _, v := range values {
			out = append(out, reference.Code(fmt.Sprint(v)))
		}
		return join(out)
	}
	switch kind := schema["type"].(type) {
	case []any:
		var out []string
		for _, name := range kind {
			out = append(out, one(name))
		}
		return join(out)
	case string:
		if items, ok := schema["items"].(map[string]any); ok {
			return "list of " + words(items)
		}
		if value, ok := schema["additionalProperties"].(map[string]any); ok && schema["properties"] == nil {
			return "name → " + words(value)
		}
		if kind == "object" && schema["properties"] != nil {
			return "keys"
		}
		return one(kind)
	}
	return "any value"
}

// join lists alternatives, each once.
func join(alternatives []string) string {
	var once []string
	for _, a := range alternatives {
		if !slices.Contains(once, a) {
			once = append(once, a)
		}
	}
	return strings.Join(once, ", or ")
}
