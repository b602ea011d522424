// Package jsontext finds values in the bytes of JSON without decoding the document, also in an incomplete one. Start
// with [Value].
package jsontext

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Value is the bytes of one JSON value.
//
// Records may be megabytes of which a few fields matter, so they are scanned instead of decoded: brackets are counted
// and strings are skipped. In a valid document the scan finds what a decoder finds. In an invalid one it may find
// values where the brackets match, or nothing; it never fails otherwise, and nesting needs no stack.
type Value []byte

// Cursor iterates over the members of an object or the elements of a list, in order, including duplicate keys:
//
//	c := v.Members()
//	for c.Next() {
//		… c.Key, c.Value …
//	}
//	if !c.Whole { … torn … }
type Cursor struct {
	Key   []byte // without quotes and escapes; nil in a list
	Value Value
	Whole bool  // the end was reached, and nothing follows
	Torn  Value // the beginning of an incomplete value

	Member     // the position of the current one
	Close  int // the offset of the closing bracket after the last member; -1 if there is none

	of   Value
	at   int
	last byte
}

// A Member is the position of a field of an object, or of an element of a list, whose key is empty. The key includes
// its quotes.
type Member struct{ KeyStart, KeyEnd, Start, End int }

// Members returns a cursor over an object; for any other value it is empty and not Whole.
func (v Value) Members() Cursor { return v.enter(0, '{', '}') }

// Elements returns a cursor over a list; for any other value it is empty and not Whole.
func (v Value) Elements() Cursor { return v.enter(0, '[', ']') }

// At returns a cursor over the object or list at i.
func (v Value) At(i int) Cursor {
	if i < len(v) && v[i] == '[' {
		return v.enter(i, '[', ']')
	}
	return v.enter(i, '{', '}')
}

func (v Value) enter(i int, first, last byte) Cursor {
	c := Cursor{of: v, at: len(v), last: last, Close: -1}
	i = v.SkipSpace(i)
	if i >= len(v) || v[i] != first {
		return c
	}
	i = v.SkipSpace(i + 1)
	if i < len(v) && v[i] == last {
		c.end(i)
		return c
	}
	c.at = i
	return c
}

func (c *Cursor) end(i int) {
	c.Close, c.Whole = i, c.of.SkipSpace(i+1) == len(c.of)
}

// Next moves to the next member, and reports whether there is one.
func (c *Cursor) Next() bool {
	i, v := c.at, c.of
	c.at = len(v) // by default there is no more
	if i >= len(v) {
		return false
	}
	c.KeyStart, c.KeyEnd = i, i
	if c.last == '}' {
		end := v.EndOfString(i)
		if end < 0 {
			return false
		}
		c.KeyEnd = end
		if c.Key = v[i+1 : end-1]; bytes.IndexByte(c.Key, '\\') >= 0 {
			c.Key = []byte(v[i:end].Text())
		}
		i = v.SkipSpace(end)
		if i >= len(v) || v[i] != ':' {
			return false
		}
		i = v.SkipSpace(i + 1)
	}
	end := v.EndOfValue(i)
	if end < 0 {
		c.Torn = v[i:]
		return false
	}
	c.Start, c.End, c.Value = i, end, v[i:end]
	i = v.SkipSpace(end)
	switch {
	case i >= len(v):
		// torn after a value that looks complete
	case v[i] == ',':
		c.at = v.SkipSpace(i + 1)
	case v[i] == c.last:
		c.end(i)
	}
	return true
}

// Decode returns the value of a string; ok is false for any other value.
func (v Value) Decode() (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	inner := v[1 : len(v)-1]
	switch {
	case bytes.IndexByte(inner, '\\') >= 0:
		var s string
		return s, json.Unmarshal(v, &s) == nil
	case !utf8.Valid(inner):
		return string([]rune(string(inner))), true // U+FFFD for every invalid byte, as in decoders
	}
	return string(inner), true
}

// Text returns the value of a string, "" for any other value.
func (v Value) Text() string {
	s, _ := v.Decode()
	return s
}

// IsTrue reports whether the value is the literal true.
func (v Value) IsTrue() bool { return string(v) == "true" }

// There reports whether the value exists and is not null.
func (v Value) There() bool { return len(v) > 0 && string(v) != "null" }

// Int returns the value of a whole number from 0 up, 0 for any other value.
func (v Value) Int() int {
	n := 0
	for _, c := range v {
		if c < '0' || c > '9' || n > 1<<50 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// Field returns the last of an object's members with that name, as decoders do; nil if there is none.
func (v Value) Field(name string) Value {
	var found Value
	for c := v.Members(); c.Next(); {
		if string(c.Key) == name {
			found = c.Value
		}
	}
	return found
}

// HasToken reports whether the value contains the string as a key or a value: an unescaped quote begins a string there,
// since only punctuation follows the end of one.
func (v Value) HasToken(quoted string) bool {
	for from := 0; ; {
		i := bytes.Index(v[from:], []byte(quoted))
		if i < 0 {
			return false
		}
		if i += from; i == 0 || v[i-1] != '\\' {
			return true
		}
		from = i + 1
	}
}

// SkipSpace returns the index of the first byte from i on that is not white space.
func (v Value) SkipSpace(i int) int {
	for i < len(v) && (v[i] == ' ' || v[i] == '\t' || v[i] == '\n' || v[i] == '\r') {
		i++
	}
	return i
}

// EndOfString returns the index after the string that begins at i, or -1.
func (v Value) EndOfString(i int) int {
	if i >= len(v) || v[i] != '"' {
		return -1
	}
	for i++; ; i++ {
		n := bytes.IndexByte(v[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		escapes := 0
		for v[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// EndOfValue returns the index after the value that begins at i, or -1.
func (v Value) EndOfValue(i int) int {
	if i >= len(v) {
		return -1
	}
	switch v[i] {
	case '"':
		return v.EndOfString(i)
	case '{', '[':
		for depth := 0; i < len(v); {
			switch v[i] {
			case '"':
				if i = v.EndOfString(i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	start := i
	for i < len(v) && !punctuation(v[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// punctuation reports whether the byte ends a number or a literal.
func punctuation(c byte) bool {
	switch c {
	case ',', ':', ']', '}', ' ', '\t', '\r', '\n', '"', '[', '{':
		return true
	}
	return false
}

// Structure calls visit for each byte outside of strings and comments, as in JavaScript, and for each comment as a
// whole, until visit returns false. In invalid documents it may treat more of them as structure than a decoder.
func (v Value) Structure(visit func(start, end int) bool) {
	for i := 0; i < len(v); {
		end := i + 1
		switch {
		case v[i] == '"':
			if i = v.EndOfString(i); i < 0 {
				return
			}
			continue
		case v[i] != '/': // as most bytes
		case bytes.HasPrefix(v[i:], []byte("//")):
			end = len(v)
			if n := bytes.IndexAny(v[i:], "\r\n"); n >= 0 {
				end = i + n
			}
		case bytes.HasPrefix(v[i:], []byte("/*")):
			n := bytes.Index(v[i+2:], []byte("*/"))
			if n < 0 {
				return
			}
			end = i + 2 + n + 2
		}
		if !visit(i, end) {
			return
		}
		i = end
	}
}

// LineCol converts an offset to line and column, both from 1, columns in characters.
func (v Value) LineCol(at int) (line, col int) {
	at = min(at, len(v))
	line = 1 + bytes.Count(v[:at], []byte("\n"))
	col = 1 + utf8.RuneCount(v[bytes.LastIndexByte(v[:at], '\n')+1:at])
	return line, col
}
