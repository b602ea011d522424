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
	for _, key := range order {
		want[cleanText(key)] = nil
	}
	if len(want) < len(order) {
		return nil, &EditError{Message: "two names become one without the bytes that are not UTF-8"}
	}
	if f != JSON {
		if body != "" {
			body = "\n" + strings.TrimSuffix(body, "\n") + "\n"
		}
		sets := make([]Set, len(order))
		for i, key := range order {
			sets[i] = Set{Path: []any{key}, Value: values[key]}
		}
		return Edit([]byte("---\n---\n"+body), f, sets)
	}
	b := []byte("{")
	for i, key := range order {
		value, err := cleanValue(values[key], 0)
		if err == nil {
			key = cleanText(key)
			want[key], err = jsonValue(value)
		}
		if err != nil {
			return nil, &EditError{Pointer: schema.PointerOf([]any{key}), Message: err.Error()}
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = slices.Concat(b, jsonedit.Encode(key), []byte(":"), jsonedit.Encode(value))
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, append(b, "}\n"...), "", "  ") // it is valid JSON
	if indented.Len() > MaxFileSize {
		return nil, &EditError{Message: "would become too big: more than 8 MiB"}
	}
	got, err := decodeEditable(indented.Bytes(), f)
	if err != nil {
		return nil, &EditError{Message: "the new file " + err.Error()}
	}
	if !reflect.DeepEqual(got.value, want) {
		return nil, &EditError{Message: "the values cannot be written so that they are read as they are"}
	}
	return indented.Bytes(), nil
}
