package policytest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// The page about test files says what their schema says.
func TestTestKeysPage(t *testing.T) {
	p := reference.New(t, "test-keys", "Keys of a test file")
	p.Text("All keys of `NAME_test.yaml`, the tests beside a policy; see [Testing a policy](../testing.md). `ralph help schema test` prints the same as JSON Schema, for editors.")
	root, _ := yamltree.Parse(schemaSource)
	section := func(title, about, def string) {
		p.Section(2, title)
		p.Text("%s", about)
		of, in := grammar(), root
		if def != "" {
			of, in = resolved(map[string]any{"$ref": "#/$defs/" + def}), root.Get("$defs").Get(def)
		}
		properties := of["properties"].(map[string]any)
		rows := [][]string{{"key", "value", "meaning"}}
		var names, same []string // in the order of the file; of the table of names, where that explains them
		for _, f := range in.Get("properties").Fields {
			s := resolved(properties[f.Key.Value].(map[string]any))
			names = append(names, f.Key.Value)
			rows = append(rows, []string{reference.Code(f.Key.Value), words(s), fmt.Sprint(s["description"])})
		}
		for _, e := range vocab.Names() {
			name := strings.TrimPrefix(e.Name, def+".")
			switch s, _ := properties[name].(map[string]any); {
			case s == nil || slices.Contains(names, name):
			case s["description"] == e.Doc:
				same = append(same, name)
			default: // it has a default here
				names = append(names, name)
				rows = append(rows, []string{reference.Code(name), words(s), fmt.Sprint(s["description"])})
			}
		}
		if n := len(names) + len(same); n != len(properties) {
			t.Errorf("%s: %d keys of %d are listed", title, n, len(properties))
		}
		if len(names) > 0 {
			p.Table(rows...)
		}
		if len(same) > 0 {
			p.Text("These are [names](names.md#names) of policies: %s.", reference.Code(same...))
		}
	}
	section("The top level", "`tests` is required.", "")
	section("A test", "`name` and `expect` are required.", "test")
	section("given", "What the policy sees. A test sees nothing else.", "given")
	section("A file", "An entry of `given.files` is the text of a file, or has these keys. `null` takes away a file that the file's own `given` has.", "file")
	section("A message", "An entry of `given.transcript` has one of these keys.", "message")
	section("loop", "Keys of `given.loop`.", "loop")
	section("expect", "At least one of these keys is required.", "expect")
	section("An effect", fmt.Sprintf("An entry of `expect.effects` and `expect.finally` has one of %s, or an effect that a program has of its own.",
		reference.Code(keysOf("effect")...)), "effect")
	section("prune", "Keys of `prune` in an effect.", "prune")
	p.Check()
}

// resolved is a schema with that which it refers to.
func resolved(s map[string]any) map[string]any {
	ref, ok := s["$ref"].(string)
	if !ok {
		return s
	}
	out := maps.Clone(grammar()["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any))
	maps.Copy(out, s)
	return out
}

// words says what a key takes, from its schema.
func words(schema map[string]any) string {
	schema = resolved(schema)
	var out []string
	values, closed := schema["enum"].([]any)
	if !closed {
		values, _ = schema["examples"].([]any)
	}
	for _, v := range values {
		out = append(out, reference.Code(v.(string)))
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
	last := len(once) - 1
	if last < 1 {
		return strings.Join(once, "")
	}
	return strings.Join(once[:last], ", ") + " or " + once[last]
}
