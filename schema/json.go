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
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, errors.New("line 1, column 1: the text is blank; write a JSON value such as {}")
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(json.Unmarshal(b, new(json.RawMessage)), &syntax) {
		before := b[:syntax.Offset-1]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, fmt.Errorf("line %d, column %d: %w", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(line), syntax)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	_ = d.Decode(&v) // it is valid
	exact := &Type{nullable: true}
	exact.Items = exact
	v, _ = exact.ready(v)
	return v, nil
}
