package policytest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

//go:embed schema.yaml
var schemaSource []byte

// Schema returns the JSON Schema of test files, for editors. Parse validates files with it.
func Schema() []byte {
	b, err := json.MarshalIndent(grammar(), "", "  ")
	if err != nil { // it was read from YAML
		panic(err)
	}
	return append(b, '\n')
}

// compiled is the schema with which files are validated.
var compiled = sync.OnceValue(func() *schema.Schema {
	s, err := schema.FromValue("test", grammar())
	if err != nil { // embedded in this package
		panic(err)
	}
	return s
})

// keysOf returns the keys of an object of test files, by the name of its schema.
func keysOf(def string) []string {
	of := grammar()["$defs"].(map[string]any)[def].(map[string]any)["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(of))
}

// grammar is schema.yaml with the names that every policy has. It must not be modified.
var grammar = sync.OnceValue(func() map[string]any {
	root, _ := yamltree.Parse(schemaSource)
	doc := root.Decode().(map[string]any)
	defs := doc["$defs"].(map[string]any)
	properties := func(def string) map[string]any { return defs[def].(map[string]any)["properties"].(map[string]any) }
	for _, e := range vocab.Inputs() {
		if e.Name != vocab.HookEventName { // the key event sets it
			properties("given")[e.Name], properties("input")[e.Name] = schemaOf(e), schemaOf(e)
		}
	}
	for _, e := range vocab.Names() {
		group, name, _ := strings.Cut(e.Name, ".")
		if _, ok := defs[group]; ok && e.Name != vocab.LoopName { // the policy sets the loop's name
			properties(group)[name] = schemaOf(e)
		}
	}
	defs["event"].(map[string]any)["examples"] = listOf(vocab.Events())
	defs["failure"].(map[string]any)["enum"] = listOf(vocab.Failures())
	return doc
})

// schemaOf returns the schema of a name's value.
func schemaOf(e vocab.Entry) map[string]any {
	s := map[string]any{"type": "string", "description": e.Doc}
	if v, ok := hookInput("the project")[e.Name]; ok {
		s["description"] = strings.TrimSuffix(e.Doc, ".") + fmt.Sprintf("; defaults to %v.", v)
	}
	switch zero := e.Zero.(type) {
	case bool:
		s["type"] = "boolean"
	case int:
		s["type"], s["minimum"] = "integer", 0
	case *float64:
		s["type"], s["minimum"] = "number", 0
	case time.Duration:
		s["format"] = "go-duration"
	case time.Time:
		s["format"] = "date-time"
	case vocab.Enum:
		s["enum"] = listOf(zero[1:]) // the first is ""
	case vocab.Items:
		s["type"], s["items"] = "array", map[string]any{"type": "object"}
	}
	return s
}

func listOf(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// hookInput returns the default hook input of a test.
func hookInput(project string) map[string]any {
	return map[string]any{vocab.SessionID: "test", vocab.Cwd: project, vocab.PermissionMode: "default", vocab.StopHookActive: false}
}

// isInput reports whether a test can set this name of the hook input.
func isInput(name string) bool { return slices.Contains(keysOf("input"), name) }
