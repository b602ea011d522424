package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ParseJSON reads exactly one JSON value: nil, bool, int, float64, string, []any or map[string]any. Numbers are int where they are whole
// and at most 2^53 in size, else float64; one beyond float64 is the largest or smallest of it. Of duplicate keys the last counts. A byte
// order mark is skipped. Text that is blank, or deeper than the 10,000 levels of encoding/json, is an error. Errors say line and column.
func ParseJSON(b []byte) (any, error) {
	b = bytes.TrimRight(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(b) == 0 {
		return nil, errors.New("line 1, column 1: the text is blank; write a JSON value such as {}")
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	whole := d.Decode(&v) == nil && d.InputOffset() == int64(len(b))
	if syntax := (*json.SyntaxError)(nil); !whole && errors.As(json.Unmarshal(b, new(any)), &syntax) { // which knows the place
		before := b[:syntax.Offset-1]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, fmt.Errorf("line %d, column %d: %w", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(line), syntax)
	}
	exact := &Type{nullable: true}
	exact.Items = exact
	v, _ = exact.ready(v)
	return v, nil
}
