package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/schema"
)

// NewDocument returns the bytes of a new file that holds values, for [Root.Write]. The fields that keys names come first
// and in this order; the other fields follow by name. A key without a value is left out. Values are those of [Set].
//
// JSON is indented by two spaces. Front matter has one line for each field, quoted where it must be, and then a blank line
// and body, which ends with a line end. [FrontMatter] and [LenientFrontMatter] both read the same values from it. JSON has
// no body.
//
// The result was decoded again and holds the values. If that cannot be had, the error is an [*EditError].
func NewDocument(f Format, keys []string, values map[string]any, body string) ([]byte, error) {
	switch {
	case f != JSON && f != FrontMatter && f != LenientFrontMatter:
		return nil, &EditError{Message: "a new " + f.String() + " cannot be written, only JSON and front matter"}
	case f == JSON && body != "":
		return nil, &EditError{Message: "JSON has no body"}
	}
	order := make([]string, 0, len(values))
	for _, key := range slices.Concat(keys, slices.Sorted(maps.Keys(values))) {
		if _, ok := values[key]; ok && !slices.Contains(order, key) {
			order = append(order, key)
		}
	}
	want := make(map[string]any, len(values))
	var b bytes.Buffer
	b.WriteString(map[bool]string{true: "{", false: "---\n"}[f == JSON])
	for i, key := range order {
		value, err := cleanValue(values[key], 0)
		if err != nil {
			return nil, &EditError{Pointer: schema.PointerOf([]any{key}), Message: err.Error()}
		}
		if key = cleanText(key); f != JSON {
			want[key] = flowValue(value)
			b.WriteString(renderKey(key) + ": " + renderYAML(value, 0) + "\n")
			continue
		}
		if want[key], err = jsonValue(value); err != nil {
			return nil, &EditError{Pointer: schema.PointerOf([]any{key}), Message: err.Error()}
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		b.Write(jsonedit.Encode(key))
		b.WriteString(": ")
		_ = json.Indent(&b, jsonedit.Encode(value), "  ", "  ") // it is valid JSON
	}
	switch {
	case f != JSON:
		b.WriteString("---\n")
		if body != "" {
			b.WriteString("\n" + body)
		}
		if body != "" && !strings.HasSuffix(body, "\n") {
			b.WriteByte('\n')
		}
	case len(order) > 0:
		b.WriteString("\n}\n")
	default:
		b.WriteString("}\n")
	}
	if b.Len() > MaxFileSize {
		return nil, &EditError{Message: "would become too big: more than 8 MiB"}
	}
	got, err := decodeEditable(b.Bytes(), f)
	if err != nil {
		return nil, &EditError{Message: "the new file " + err.Error()}
	}
	if len(want) < len(order) || !reflect.DeepEqual(got.value, want) {
		return nil, &EditError{Message: "the values cannot be written so that they are read as they are"}
	}
	return b.Bytes(), nil
}
