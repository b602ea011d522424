package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits on a JSON text.
const (
	maxJSON  = 16 << 20 // bytes
	maxDepth = 1000     // levels of lists and objects
)

const tooDeep = "lists and objects are nested too deep"

// Error is what is wrong with a JSON text, at its place: the path to a value, or line and column.
type Error struct {
	Name      string // of the schema; empty: the text has no name
	Path      []string
	Line, Col int // from 1, in characters; 0: there is a path
	Message   string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.Name, strings.TrimSpace(strings.Join(e.Path, ".")+" "+e.Message))
	case e.Name == "":
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Col, e.Message)
}

func failure(b []byte, at int, message string) *Error {
	line, col := lineCol(b, at)
	return &Error{Line: line, Col: col, Message: message}
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
		at := len(b)
		// The decoder reports the byte after a token that ends too early.
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF) {
			at = min(int(syntax.Offset)-1, at)
		}
		if strings.HasSuffix(err.Error(), "max depth") {
			return nil, failure(b, at, tooDeep)
		}
		return nil, failure(b, at, unexpected(b, at))
	}
	if rest := bytes.TrimLeft(b[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		at := len(b) - len(rest)
		return nil, failure(b, at, unexpected(b, at)+" after the end of the value")
	}
	p := preparation{keepNull: true}
	if v = p.value(nil, v, 0); p.depth > maxDepth {
		return nil, failure(b, 0, tooDeep)
	}
	return v, nil
}

// unexpected describes a slip of people and models at an offset of a text that is no JSON.
func unexpected(b []byte, at int) string {
	if at >= len(b) {
		return "unexpected end of the text: something that was opened is not closed"
	}
	r, _ := utf8.DecodeRune(b[at:])
	message := "unexpected " + strconv.QuoteRune(r)
	switch {
	case r == '\'':
		message += ": texts and keys need double quotes"
	case r == '/', r == '#':
		message += ": JSON has no comments"
	case bytes.HasSuffix(bytes.TrimSpace(b[:at]), []byte(",")):
		message += " after a comma"
	case r < ' ':
		message += `: a text ends on its line; write \n or \t within it`
	}
	return message
}

func lineCol(b []byte, at int) (line, col int) {
	start := bytes.LastIndexByte(b[:at], '\n') + 1
	return 1 + bytes.Count(b[:at], []byte("\n")), 1 + utf8.RuneCount(b[start:at])
}
