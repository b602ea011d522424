package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits on a JSON text.
const (
	maxJSON  = 16 << 20 // bytes
	maxDepth = 1000     // levels of lists and objects
)

// Error is what is wrong with a JSON text, at its place: the path to a value, or line and column.
type Error struct {
	Path      []string
	Line, Col int // from 1, in characters; 0: there is a path
	Message   string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Message)
	}
	return strings.TrimSpace(strings.Join(e.Path, ".") + " " + e.Message)
}

func failure(b []byte, at int, message string) *Error {
	start := bytes.LastIndexByte(b[:at], '\n') + 1
	return &Error{Line: 1 + bytes.Count(b[:at], []byte("\n")), Col: 1 + utf8.RuneCount(b[start:at]), Message: message}
}

// ParseJSON reads exactly one JSON value: nil, bool, int, float64, string, []any or map[string]any. Numbers are int where they are whole
// and at most 2^53 in size, else float64; one beyond float64 is the largest or smallest of it. Of duplicate keys the last counts. A byte
// order mark is skipped. Text that is blank, UTF-16, larger than 16 MiB or deeper than 1,000 levels is an error. Errors are *Error.
func ParseJSON(b []byte) (any, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	switch {
	case len(b) > maxJSON:
		return nil, failure(b, 0, fmt.Sprintf("the text is larger than %d MiB", maxJSON>>20))
	case len(b) > 1 && (b[0] == 0 || b[1] == 0 || b[0] >= 0xfe):
		return nil, failure(b, 0, "the text is UTF-16; save it as UTF-8")
	case len(bytes.TrimSpace(b)) == 0:
		return nil, failure(b, 0, "the text is blank; write a JSON value such as {}")
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		at := len(b) // of a text that ends too early, the decoder reports the byte after a token
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF) {
			at = min(int(syntax.Offset)-1, at)
		}
		return nil, failure(b, at, err.Error())
	}
	if rest := bytes.TrimLeft(b[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, failure(b, len(b)-len(rest), "the value has ended before")
	}
	p := preparation{keepNull: true}
	if v = p.value(nil, v, 0); p.depth > maxDepth {
		return nil, failure(b, 0, "exceeded max depth")
	}
	return v, nil
}
