// Package jsontext finds values in the bytes of JSON without decoding the document, also in the beginning of one that
// breaks off.
package jsontext

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Value is the bytes of one JSON value that is not parsed yet.
//
// Records are megabytes of which a few fields matter, so they are scanned for those instead of decoded: brackets are
// counted and strings are jumped over. What the scan finds in a valid document is what a decoder finds. In an invalid one
// it may find something too, where the brackets match; it never fails in any other way than to find nothing, and it
// needs no stack for nesting.
type Value []byte

// Cursor goes through the members of an object or the elements of a list, in order; it visits all of several equal keys:
//
//	c := v.Members()
//	for c.Next() {
//		… c.Key, c.Value …
//	}
//	if !c.Whole { … torn … }
type Cursor struct {
	Key   []byte // without quotes and escapes; nil in a list
	Value Value
	Whole bool  // the end was reached, and nothing follows it
	Torn  Value // the beginning of a value whose end is missing

	Member     // where the current one is
	Close  int // where the closing bracket is, once all members were visited; -1 if there is none

	of   Value
	at   int
	last byte
}

// A Member is the place of a field of an object, or of an element of a list, whose key is empty. The key has its quotes.
type Member struct{ KeyStart, KeyEnd, Start, End int }

// Members is a cursor over an object; over any other value it finds nothing and is not whole.
func (v Value) Members() Cursor { return v.enter(0, '{', '}') }

// Elements is a cursor over a list; over any other value it finds nothing and is not whole.
func (v Value) Elements() Cursor { return v.enter(0, '[', ']') }

// At is a cursor over the object or the list that begins at i.
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

// Next moves to the next member, if there is one.
func (c *Cursor) Next() bool {
	i, v := c.at, c.of
	c.at = len(v) // wherever this ends, there is no more, unless it says so
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
		// torn behind a value that is whole, as far as one can see
	case v[i] == ',':
		c.at = v.SkipSpace(i + 1)
	case v[i] == c.last:
		c.end(i)
	}
	return true
}

// Decode is the value of a string; false for any other value.
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
		return string([]rune(string(inner))), true // U+FFFD for every odd byte, as decoders have it
	}
	return string(inner), true
}

// Text is the value of a string, "" for any other value.
func (v Value) Text() string {
	s, _ := v.Decode()
	return s
}

// IsTrue reports whether the value is the literal true.
func (v Value) IsTrue() bool { return string(v) == "true" }

// There reports whether the value exists and is not null.
func (v Value) There() bool { return len(v) > 0 && string(v) != "null" }

// Int is the value of a whole number from 0 up, 0 for any other value.
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

// Field is the last of an object's members with that name, as decoders have it; nil if there is none.
func (v Value) Field(name string) Value {
	var found Value
	for c := v.Members(); c.Next(); {
		if string(c.Key) == name {
			found = c.Value
		}
	}
	return found
}

// HasToken reports whether the value has the string somewhere as a whole, as a key or as a value: a quote
// that is no escaped one begins a string there, since nothing but punctuation follows the end of one.
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

// SkipSpace is the index of the first byte from i on that is no white space.
func (v Value) SkipSpace(i int) int {
	for i < len(v) && (v[i] == ' ' || v[i] == '\t' || v[i] == '\n' || v[i] == '\r') {
		i++
	}
	return i
}

// EndOfString is the index behind the string that begins at i, or -1.
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

// EndOfValue is the index behind the value that begins at i, or -1.
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

// Structure calls visit for each byte of the document that is outside of strings and comments, as JavaScript has them,
// and for each comment as a whole, until visit returns false. It reads what is not valid too, and then may take more of
// it for structure than a decoder.
func (v Value) Structure(visit func(start, end int) bool) {
	for i := 0; i < len(v); {
		end := i + 1
		switch {
		case v[i] == '"':
			if i = v.EndOfString(i); i < 0 {
				return
			}
			continue
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

// LineCol turns an offset into line and column, both from 1; columns count characters.
func (v Value) LineCol(at int) (line, col int) {
	at = min(at, len(v))
	line = 1 + bytes.Count(v[:at], []byte("\n"))
	col = 1 + utf8.RuneCount(v[bytes.LastIndexByte(v[:at], '\n')+1:at])
	return line, col
}
