package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// Limits on a JSON text.
const (
	maxJSON  = 16 << 20 // bytes
	maxDepth = 1000     // levels of lists and objects
	maxWhole = 1 << 53  // the largest whole number that is exact everywhere
)

// Error is what is wrong with a JSON text, at its place.
type Error struct {
	Name      string   // of the schema; empty: the text has no name
	Path      []string // to the value in the text; empty: the whole, or the text is no JSON
	Line, Col int      // from 1, in characters
	Message   string
}

func (e *Error) Error() string {
	if e.Name != "" {
		return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Col, e.Message)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Message)
}

// ParseJSON reads exactly one JSON value: nil, bool, int, float64, string, []any or map[string]any. Numbers are int where they are whole
// and at most 2^53 in size, else float64; one beyond float64 is the largest or smallest of it. Of duplicate keys the last counts. A byte
// order mark is skipped. Text that is blank, UTF-16, larger than 16 MiB or deeper than 1,000 levels is an error. Errors are *Error.
func ParseJSON(b []byte) (any, error) { return parse(b, maxJSON, maxDepth) }

func parse(b []byte, size, depth int) (any, error) {
	utf16 := len(b) > 1 && (b[0] == 0 || b[1] == 0 || b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff)
	b = withoutBOM(b)
	fail := func(at int, format string, args ...any) (any, error) {
		line, col := lineCol(b, at)
		return nil, &Error{Line: line, Col: col, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(b) > size:
		return fail(0, "the text is larger than %d MiB", size>>20)
	case utf16:
		return fail(0, "the text is UTF-16; save it as UTF-8")
	case len(bytes.TrimSpace(b)) == 0:
		return fail(0, "the text is blank; write a JSON value such as {}")
	}
	if at := tooDeep(b, depth); at >= 0 {
		return fail(at, "lists and objects are nested deeper than %d levels", depth)
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
		return fail(at, "%s", unexpected(b, at))
	}
	if at := skip(b, int(dec.InputOffset()), " \t\r\n"); at < len(b) {
		return fail(at, "unexpected %s after the end of the value; write one value", character(b, at))
	}
	return numbers(v), nil
}

// tooDeep returns the offset of the bracket that opens one level too many, or -1.
func tooDeep(b []byte, most int) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			if depth++; depth > most {
				return i
			}
		case c == ']', c == '}':
			depth--
		}
	}
	return -1
}

// unexpected describes a slip of people and models at an offset of a text that is no JSON.
func unexpected(b []byte, at int) string {
	if at >= len(b) {
		return "unexpected end of the text: something that was opened is not closed"
	}
	before := bytes.TrimRight(b[:at], " \t\r\n")
	switch c := b[at]; {
	case c == '\'':
		return "unexpected ': texts and keys need double quotes"
	case c == '/', c == '#':
		return fmt.Sprintf("unexpected %c: JSON has no comments", c)
	case (c == '}' || c == ']') && bytes.HasSuffix(before, []byte(",")):
		return fmt.Sprintf("unexpected %c after a comma: remove the comma", c)
	case c < ' ':
		return fmt.Sprintf("unexpected %s: a text ends on its line; write \\n or \\t within it", character(b, at))
	}
	return "unexpected " + character(b, at)
}

func character(b []byte, at int) string {
	r, _ := utf8.DecodeRune(b[at:])
	return strconv.QuoteRune(r)
}

// numbers replaces each json.Number in a decoded value.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(string(v))
	case map[string]any:
		for k, x := range v {
			v[k] = numbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = numbers(x)
		}
	}
	return v
}

// number returns the value of a number in JSON.
func number(s string) any {
	if i, err := strconv.Atoi(s); err == nil && -maxWhole <= i && i <= maxWhole {
		return i
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range, it is infinite
	return whole(max(-math.MaxFloat64, min(f, math.MaxFloat64)))
}

// whole returns an int for a whole number that is exact.
func whole(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < maxWhole {
		return int(f)
	}
	return f
}

// Place returns line and column, counted from 1, of the value at a path of a JSON text, or of the nearest value above it. A name within
// a list is an index. Of duplicate keys the last counts.
func Place(b []byte, path []string) (line, col int) {
	b = withoutBOM(b)
	at := skip(b, 0, " \t\r\n")
	for _, name := range path {
		next := member(b[at:], name)
		if next < 0 {
			break
		}
		at += next
	}
	return lineCol(b, at)
}

// member returns the offset of a field or an entry in the text of an object or a list, or -1.
func member(b []byte, name string) int {
	dec := json.NewDecoder(bytes.NewReader(b))
	open, _ := dec.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return -1
	}
	found := -1
	for i := 0; dec.More(); i++ {
		key := strconv.Itoa(i)
		if open == json.Delim('{') {
			token, _ := dec.Token()
			key, _ = token.(string)
		}
		at := skip(b, int(dec.InputOffset()), " \t\r\n:,")
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		if key == name {
			found = at
		}
	}
	return found
}

func withoutBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }

// skip returns the offset of the first byte from at on that is not one of some.
func skip(b []byte, at int, some string) int {
	return len(b) - len(bytes.TrimLeft(b[at:], some))
}

func lineCol(b []byte, at int) (line, col int) {
	start := bytes.LastIndexByte(b[:at], '\n') + 1
	return 1 + bytes.Count(b[:at], []byte("\n")), 1 + utf8.RuneCount(b[start:at])
}
