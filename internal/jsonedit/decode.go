// Package jsonedit reads one JSON object and edits it in place: no byte changes but
// those of the edit.
package jsonedit

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/jsontext"
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
		return schema.Document{}, fmt.Errorf("is not a JSON object but %s", jsontext.Kind(doc.Value))
	}
	return doc, nil
}
