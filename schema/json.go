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

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Document is a decoded document with information about its source.
type Document struct {
	// Value is JSON-like: map[string]any, []any, string, bool, nil, int, float64, json.Number. Values of other types
	// count as the string that fmt.Sprint returns for them. Check does not modify it.
	Value any
	// Position returns the position of the value at a JSON pointer, from 1; 0, 0 if there is no such value. It may be
	// nil.
	Position func(pointer string) (line, col int)
	// Text returns the source text of the plain YAML scalar at a JSON pointer. Check uses it if a string is declared
	// and the value is not one: `promise: 42` is "42", `on: true` is "true". It may be nil.
	Text func(pointer string) (text string, ok bool)
	// Typed says that a program made the value, not a person: a number or a bool written as a string is neither, and a
	// time.Duration stays one where anything is allowed.
	Typed bool
	// Repeated has the JSON pointers of fields whose key an object has more than once; the last one counts.
	Repeated []string
}

// repeated returns a violation for each key that an object has more than once.
func (d Document) repeated() (all []Violation) {
	for _, pointer := range d.Repeated {
		all = append(all, Violation{Pointer: pointer, Message: "is set more than once, and the last one counts", Keyword: Repeated, Help: "remove the others"})
	}
	return all
}

// ParseJSON parses exactly one JSON document of at most MaxDocumentSize bytes and MaxDepth levels. It skips a byte
// order mark, keeps the last of duplicate keys, replaces invalid UTF-8 inside strings with U+FFFD, and keeps numbers of
// any size as json.Number. Errors are *SyntaxError. src must not be modified afterwards, because positions are computed
// from it.
func ParseJSON(src []byte) (Document, error) { return parseJSON(src, MaxDocumentSize) }

func parseJSON(src []byte, maxSize int) (doc Document, err error) {
	if len(src) > maxSize {
		return doc, &SyntaxError{1, 1, fmt.Sprintf("the document has %d bytes, more than the %d that are read", len(src), maxSize)}
	}
	body := jsontext.Value(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")))
	fail := func(at int, format string, args ...any) (Document, error) {
		line, col := body.LineCol(at)
		return Document{}, &SyntaxError{line, col, fmt.Sprintf(format, args...)}
	}
	if start := body.SkipSpace(0); start == len(body) {
		return fail(0, "the document is blank, expected a JSON value such as {}")
	}
	members, at := structureOf(body)
	if at >= 0 {
		return fail(at, "arrays and objects are nested deeper than %d levels", MaxDepth)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&doc.Value); err != nil {
		at := len(body)
		// For an incomplete token, the decoder reports the byte after it.
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF) {
			at = min(int(syntax.Offset)-1, len(body))
		}
		return fail(at, "%s", explainSyntax(body, at))
	}
	if at := body.SkipSpace(int(dec.InputOffset())); at < len(body) {
		if strings.IndexByte(`{["-0123456789tfn`, body[at]) >= 0 {
			return fail(at, "a second JSON document begins here, expected one and nothing after it")
		}
		return fail(at, "unexpected %s after the end of the document", char(body, at))
	}
	if members > fieldsIn(doc.Value) {
		doc.Repeated = repeatedKeys(body, body.SkipSpace(0), nil, nil)
	}
	doc.Position = func(pointer string) (line, col int) {
		if at, ok := locate(body, SplitPointer(pointer)); ok {
			return body.LineCol(at)
		}
		return 0, 0
	}
	return doc, nil
}

// explainSyntax describes the error at offset at, for mistakes that people and models make.
func explainSyntax(src []byte, at int) string {
	if at >= len(src) {
		return "unexpected end of the document: something that was opened is not closed"
	}
	before := bytes.TrimRight(src[:at], " \t\r\n")
	switch c := src[at]; {
	case c == '\'':
		return "unexpected ', strings and keys need double quotes"
	case c == '/' || c == '#':
		return fmt.Sprintf("unexpected %q, JSON has no comments", c)
	case (c == '}' || c == ']') && bytes.HasSuffix(before, []byte(",")):
		return fmt.Sprintf("unexpected %q after a comma, the last item has none", c)
	case c < ' ':
		return fmt.Sprintf("unexpected %s: a string must end on its line, write \\n or \\t inside it", char(src, at))
	}
	return "unexpected " + char(src, at)
}

func char(src []byte, at int) string {
	r, _ := utf8.DecodeRune(src[at:])
	return fmt.Sprintf("%q", r)
}

// structureOf returns the number of members of all objects of src, and the offset of the bracket that opens level
// MaxDepth+1, or -1. src may be invalid JSON: structureOf must only not count fewer levels than the decoder.
func structureOf(src jsontext.Value) (members, deep int) {
	depth := 0
	deep = -1
	src.Structure(func(start, _ int) bool {
		switch src[start] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				deep = start
			}
		case '}', ']':
			depth--
		case ':':
			members++
		}
		return deep < 0
	})
	return members, deep
}

// fieldsIn returns the number of fields of all objects in v.
func fieldsIn(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, e := range v {
			n += fieldsIn(e)
		}
	case []any:
		for _, e := range v {
			n += fieldsIn(e)
		}
	}
	return n
}

// Repeated keys of a document that are reported. Each level takes a pass over what is in it.
const (
	maxRepeated      = 10
	maxRepeatedDepth = 20
)

// repeatedKeys appends to all the pointers of keys that the object or list at an offset of src, which is valid JSON, or
// one in it, has more than once.
func repeatedKeys(src jsontext.Value, at int, path []any, all []string) []string {
	if src[at] != '{' && src[at] != '[' || len(path) > maxRepeatedDepth {
		return all
	}
	seen := map[string]int{} // how often, by key
	n := 0
	for c := src.At(at); c.Next() && len(all) < maxRepeated; n++ {
		step := any(n)
		if c.Key != nil {
			key := src[c.KeyStart:c.KeyEnd].Text()
			if seen[key]++; seen[key] == 2 {
				all = append(all, PointerOf(append(path, key)))
			}
			step = key
		}
		all = repeatedKeys(src, c.Start, append(path, step), all)
	}
	return all
}

// locate returns the offset of the value at path in src, which is valid JSON. The last of duplicate keys counts, as in
// the decoded value.
func locate(src jsontext.Value, path []string) (at int, ok bool) {
	at = src.SkipSpace(0)
	for _, step := range path {
		found := -1
		for c, n := src.At(at), 0; c.Next(); n++ {
			if c.Key == nil && n == elementIndex(step) || c.Key != nil && src[c.KeyStart:c.KeyEnd].Text() == step {
				found = c.Start
			}
		}
		if found < 0 {
			return 0, false
		}
		at = found
	}
	return at, true
}

// elementIndex returns the index of a pointer's segment, or -1.
func elementIndex(segment string) int {
	if i, err := strconv.Atoi(segment); err == nil && isIndex(segment) && (segment == "0" || segment[0] != '0') {
		return i
	}
	return -1
}
