package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// NewDocument returns the bytes of a new file with values, for [Root.Write]. The fields in keys come first, in this
// order, the others follow by name. A key without a value is omitted. Values are those of [Set].
//
// JSON is indented by two spaces. Front matter has one line for each field, quoted if necessary, then a blank line and
// body, which ends with a line end. [FrontMatter] and [LenientFrontMatter] read the same values from it. JSON has no
// body.
//
// NewDocument decodes the result to verify the values. If that fails, the error is an [*EditError].
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
	names := make(map[string]bool, len(values))
	sets := make([]Set, len(order))
	for i, key := range order {
		names[cleanText(key)] = true
		sets[i] = Set{Path: []any{key}, Value: values[key]}
	}
	if len(names) < len(order) {
		return nil, &EditError{Message: "two names become one without the bytes that are not UTF-8"}
	}
	if f != JSON {
		if body != "" {
			body = "\n" + strings.TrimSuffix(body, "\n") + "\n"
		}
		return Edit([]byte("---\n---\n"+body), f, sets)
	}
	flat, err := Edit([]byte("{}\n"), f, sets)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, flat, "", "  ") // it is valid JSON
	if indented.Len() > MaxFileSize {
		return nil, grown("")
	}
	return indented.Bytes(), nil
}
