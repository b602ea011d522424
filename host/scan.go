package host

import (
	"bytes"
	"encoding/json"
	"math"
	"unicode/utf8"
)

// value is the bytes of one JSON value that is not parsed yet.
//
// Records are megabytes of which a few fields matter, so they are scanned for those instead of decoded: brackets are
// counted and strings are jumped over. What the scan finds in a valid document is what a decoder finds. In an invalid one
// it may find something too, where the brackets match; it never fails in any other way than to find nothing, and it
// needs no stack for nesting.
type value []byte

// scanner goes through the members of an object or the elements of a list, in order; duplicate keys are all given:
//
//	c := v.members()
//	for c.next() {
//		… c.key, c.value …
//	}
//	if !c.whole { … torn … }
type scanner struct {
	key   []byte // without quotes and escapes; nil in a list
	value value
	whole bool  // the end was reached, and nothing stands behind it
	torn  value // what is there of a value whose end is not

	of   value
	at   int
	last byte
}

// members is a cursor over an object; over any other value it gives nothing and is not whole.
func (v value) members() scanner { return v.enter('{', '}') }

// elements is a cursor over a list; over any other value it gives nothing and is not whole.
func (v value) elements() scanner { return v.enter('[', ']') }

func (v value) enter(first, last byte) scanner {
	c := scanner{of: v, at: len(v), last: last}
	i := v.skipSpace(0)
	if i >= len(v) || v[i] != first {
		return c
	}
	i = v.skipSpace(i + 1)
	if i < len(v) && v[i] == last {
		c.whole = v.skipSpace(i+1) == len(v)
		return c
	}
	c.at = i
	return c
}

func (c *scanner) next() bool {
	i, v := c.at, c.of
	c.at = len(v) // wherever this ends, there is no more, unless it says so
	if i >= len(v) {
		return false
	}
	if c.last == '}' {
		end := v.endOfString(i)
		if end < 0 {
			return false
		}
		if c.key = v[i+1 : end-1]; bytes.IndexByte(c.key, '\\') >= 0 {
			c.key = []byte(v[i:end].text())
		}
		i = v.skipSpace(end)
		if i >= len(v) || v[i] != ':' {
			return false
		}
		i = v.skipSpace(i + 1)
	}
	end := v.endOfValue(i)
	if end < 0 {
		c.torn = v[i:]
		return false
	}
	c.value = v[i:end]
	i = v.skipSpace(end)
	switch {
	case i >= len(v):
		// torn behind a value that is whole, as far as one can see
	case v[i] == ',':
		c.at = v.skipSpace(i + 1)
	case v[i] == c.last:
		c.whole = v.skipSpace(i+1) == len(v)
	}
	return true
}

// decode is the value of a string; false for any other value.
func (v value) decode() (string, bool) {
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

// text is the value of a string, "" for any other value.
func (v value) text() string {
	s, _ := v.decode()
	return s
}

// isTrue reports whether the value is the literal true.
func (v value) isTrue() bool { return string(v) == "true" }

// there reports whether the value is there and not null.
func (v value) there() bool { return len(v) > 0 && string(v) != "null" }

// int is the value of a whole number from 0 up, 0 for any other value.
func (v value) int() int {
	n := 0
	for _, c := range v {
		if c < '0' || c > '9' || n > 1<<50 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// plus adds two counts. A session file can hold any number, and no sum of them becomes a small one.
func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// hasToken reports whether the string stands somewhere in the value as a whole, be it as a key or as a value: a quote
// that is no escaped one begins a string there, since nothing but punctuation follows the end of one.
func (v value) hasToken(quoted string) bool {
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

// skipSpace is the index of the first byte from i on that is no white space.
func (v value) skipSpace(i int) int {
	for i < len(v) && (v[i] == ' ' || v[i] == '\t' || v[i] == '\n' || v[i] == '\r') {
		i++
	}
	return i
}

// endOfString is the index behind the string that begins at i, or -1.
func (v value) endOfString(i int) int {
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

// endOfValue is the index behind the value that begins at i, or -1.
func (v value) endOfValue(i int) int {
	if i >= len(v) {
		return -1
	}
	switch v[i] {
	case '"':
		return v.endOfString(i)
	case '{', '[':
		for depth := 0; i < len(v); {
			switch v[i] {
			case '"':
				if i = v.endOfString(i); i < 0 {
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
