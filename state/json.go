package state

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ralph-sdk/ralph/schema"
)

// A syntaxError says that bytes do not parse, which may be because somebody is
// still writing them.
type syntaxError struct{ message string }

func (e *syntaxError) Error() string { return e.message }

// decodeJSON reads one JSON object.
func decodeJSON(src []byte) (schema.Document, error) {
	parsed, err := schema.ParseJSON(src)
	var syntax *schema.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return schema.Document{}, &syntaxError{fmt.Sprintf("is not valid JSON: %d:%d: %s", syntax.Line, syntax.Col, syntax.Message)}
	case err != nil:
		return schema.Document{}, &syntaxError{"is not valid JSON: " + err.Error()}
	}
	doc := parsed.Document()
	if _, ok := doc.Value.(map[string]any); !ok {
		return schema.Document{}, fmt.Errorf("is not a JSON object but %s", kindOf(doc.Value))
	}
	return doc, nil
}

// kindOf names the kind of a decoded value.
func kindOf(v any) string {
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
