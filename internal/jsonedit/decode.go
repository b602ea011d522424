// Package jsonedit reads one JSON object and edits it in place: it changes only the edited bytes. Start with [Decode]
// and [Put].
package jsonedit

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/schema"
)

// Decode decodes one JSON object. The error wraps a [*schema.SyntaxError] if src is not JSON; it completes a sentence
// that begins with the file.
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
