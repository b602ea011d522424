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

// Document is a decoded document and what is known of its source.
type Document struct {
	// Value is JSON-like: map[string]any, []any, string, bool, nil, int, float64, json.Number. Values of other types are
	// taken for the text that fmt.Sprint makes of them. Nothing in it is changed.
	Value any
	// Position gives the place of the value at a JSON pointer, from 1; 0, 0 if there is no such value. May be nil.
	Position func(pointer string) (line, col int)
	// Text gives the source text of the plain YAML scalar at a JSON pointer. It is used where text is declared and the
	// value is something else: `promise: 42` is "42", `on: true` is "true". May be nil.
	Text func(pointer string) (text string, ok bool)
}

// JSON is a decoded JSON document. It is immutable and safe for concurrent use.
type JSON struct {
	src   []byte
	value any
}

// ParseJSON reads exactly one JSON document of at most MaxDocumentSize bytes, MaxDepth deep. A byte order mark is skipped,
// of duplicate keys the last counts, invalid UTF-8 inside strings is replaced by U+FFFD, and numbers are kept as
// json.Number whatever their size. Errors are *SyntaxError. The document refers to src, which must not change afterwards.
func ParseJSON(src []byte) (*JSON, error) { return parseJSON(src, MaxDocumentSize) }

func parseJSON(src []byte, maxSize int) (*JSON, error) {
	if len(src) > maxSize {
		return nil, &SyntaxError{1, 1, fmt.Sprintf("the document has %d bytes, more than the %d that are read", len(src), maxSize)}
	}
	body := bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	fail := func(at int, format string, args ...any) (*JSON, error) {
		line, col := lineCol(body, at)
		return nil, &SyntaxError{line, col, fmt.Sprintf(format, args...)}
	}
	if start := skipSpace(body, 0); start == len(body) {
		return fail(0, "the document is blank, expected a JSON value such as {}")
	}
	if at, deep := tooDeep(body); deep {
		return fail(at, "arrays and objects are nested deeper than %d levels", MaxDepth)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	j := &JSON{src: body}
	if err := dec.Decode(&j.value); err != nil {
		at := len(body)
		// Of a token that breaks off, the decoder reports the byte after it.
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF) {
			at = min(int(syntax.Offset)-1, len(body))
		}
		return fail(at, "%s", explainSyntax(body, at))
	}
	if at := skipSpace(body, int(dec.InputOffset())); at < len(body) {
		if strings.IndexByte(`{["-0123456789tfn`, body[at]) >= 0 {
			return fail(at, "a second JSON document begins here, expected one and nothing after it")
		}
		return fail(at, "unexpected %s after the end of the document", char(body, at))
	}
	return j, nil
}

// Document returns the decoded value and its positions, which are looked up in the source when they are asked for.
func (j *JSON) Document() Document { return Document{Value: j.value, Position: j.position} }

func (j *JSON) position(pointer string) (line, col int) {
	at, ok := locate(j.src, SplitPointer(pointer))
	if !ok {
		return 0, 0
	}
	return lineCol(j.src, at)
}

// explainSyntax says what is wrong at offset at, for the mistakes that people and models make.
func explainSyntax(src []byte, at int) string {
	if at >= len(src) {
		return "unexpected end of the document: something that was opened is not closed"
	}
	before := bytes.TrimRight(src[:at], " \t\r\n")
	switch c := src[at]; {
	case c == '\'':
		return "unexpected ', text and keys stand in double quotes"
	case c == '/' || c == '#':
		return fmt.Sprintf("unexpected %q, JSON has no comments", c)
	case (c == '}' || c == ']') && bytes.HasSuffix(before, []byte(",")):
		return fmt.Sprintf("unexpected %q after a comma, the last item has none", c)
	case c < ' ':
		return fmt.Sprintf("unexpected %s: a text ends on its line, write \\n or \\t inside it", char(src, at))
	}
	return "unexpected " + char(src, at)
}

func char(src []byte, at int) string {
	r, _ := utf8.DecodeRune(src[at:])
	return fmt.Sprintf("%q", r)
}

// tooDeep returns the offset of the bracket that opens level MaxDepth+1. It needs no valid JSON: it only must not count
// fewer levels than the decoder will.
func tooDeep(src []byte) (at int, deep bool) {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			i = skipString(src, i) - 1
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// locate returns the offset of the value at path in src, which is valid JSON. Of duplicate keys the last counts, as in
// the decoded value. The recursion is as deep as the path.
func locate(src []byte, path []string) (at int, ok bool) {
	return locateNext(json.NewDecoder(bytes.NewReader(src)), src, path)
}

// locateNext is locate in the value that dec reads next.
func locateNext(dec *json.Decoder, src []byte, path []string) (at int, ok bool) {
	at = int(dec.InputOffset())
	for at < len(src) && strings.IndexByte(" \t\r\n,:", src[at]) >= 0 {
		at++
	}
	var skipped json.RawMessage
	if len(path) == 0 || (src[at] != '{' && src[at] != '[') {
		return at, dec.Decode(&skipped) == nil && len(path) == 0
	}
	// What was valid when it was decoded gives no errors.
	open, _ := dec.Token()
	for n := 0; dec.More(); n++ {
		match := n == elementIndex(path[0])
		if open == json.Delim('{') {
			key, _ := dec.Token()
			match = key == path[0]
		}
		if match {
			at, ok = locateNext(dec, src, path[1:])
		} else {
			_ = dec.Decode(&skipped)
		}
	}
	_, _ = dec.Token()
	return at, ok
}

// elementIndex is the index that a pointer's segment means, or -1.
func elementIndex(segment string) int {
	if i, err := strconv.Atoi(segment); err == nil && isIndex(segment) && (segment == "0" || segment[0] != '0') {
		return i
	}
	return -1
}

// skipString returns the offset after the string whose opening quote is at i.
func skipString(src []byte, i int) int {
	for i++; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}

func skipSpace(src []byte, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t' || src[i] == '\r' || src[i] == '\n') {
		i++
	}
	return i
}

// lineCol turns an offset into line and column, both from 1; columns count characters.
func lineCol(src []byte, at int) (line, col int) {
	at = min(at, len(src))
	line = 1 + bytes.Count(src[:at], []byte("\n"))
	col = 1 + utf8.RuneCount(src[bytes.LastIndexByte(src[:at], '\n')+1:at])
	return line, col
}
