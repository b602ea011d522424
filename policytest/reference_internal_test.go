package policytest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/internal/vocab"
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
	var out []string
	values, closed := schema["enum"].(vocab.Enum)
	if !closed {
		values, _ = schema["examples"].([]string)
	}
	for _, v := range values {
		out = append(out, reference.Code(v))
	}
	if closed {
		return join(out)
	}
	switch schema["format"] {
	case "go-duration":
		return "duration, such as `5m`"
	case "date-time":
		return "time, such as `2026-01-31T12:00:00Z`"
	}
	kinds, several := schema["type"].([]any)
	if !several {
		kinds = []any{schema["type"]}
	}
	for _, kind := range kinds {
		switch value, _ := schema["additionalProperties"].(map[string]any); {
		case kind == "array":
			out = append(out, "array of "+words(schema["items"].(map[string]any)))
		case kind == "object" && value != nil && schema["properties"] == nil:
			out = append(out, "name → "+words(value))
		case kind == "object" && schema["properties"] != nil:
			out = append(out, "keys")
		case kind == nil:
			out = append(out, "any value")
		default:
			name := map[any]string{"string": "string", "boolean": "`true` or `false`", "integer": "integer", "null": "`null`"}[kind]
			out = append(out, cmp.Or(name, fmt.Sprint(kind)))
		}
	}
	return join(out)
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
