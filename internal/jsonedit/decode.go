// Package jsonedit reads one JSON object and edits it in place: no byte changes but
// those of the edit.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ralph-sdk/ralph/schema"
)

// Decode reads one JSON object. The error wraps a [*schema.SyntaxError] if src is no
// JSON at all; it is the rest of a sentence that starts with the file.
func Decode(src []byte) (schema.Document, error) {
	doc, err := schema.ParseJSON(src)
	if err != nil {
		return schema.Document{}, fmt.Errorf("is not valid JSON: %w", err)
	}
	if _, ok := doc.Value.(map[string]any); !ok {
		return schema.Document{}, fmt.Errorf("is not a JSON object but %s", Kind(doc.Value))
	}
	return doc, nil
}

// Kind names the kind of a decoded value.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case int, float64, json.Number:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", v)
}

// Encode writes a value in one line, without the escapes that are meant for web
// pages. What JSON cannot hold is nil.
func Encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
