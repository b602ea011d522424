package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// value is the bytes of one JSON value that nobody has looked into yet.
//
// Records are megabytes of which a few fields matter, so they are scanned for those instead of decoded: brackets are
// counted and strings are jumped over. What the scan finds in a valid document is what a decoder finds. In an invalid one
// it may find something too, where the brackets match; it never fails in any other way than to find nothing, and it
// needs no stack for nesting.
type value []byte

// fields calls f with each member of an object, in order; duplicates are all given. It reports whether the value is an
// object that ends where the value ends; one that is torn has had f called for the members before the tear.
func (v value) fields(f func(key []byte, v value)) bool {
	i := v.skipSpace(0)
	if i >= len(v) || v[i] != '{' {
		return false
	}
	i = v.skipSpace(i + 1)
	if i < len(v) && v[i] == '}' {
		return v.skipSpace(i+1) == len(v)
	}
	for {
		end := v.endOfString(i)
		if end < 0 {
			return false
		}
		key := []byte(v[i+1 : end-1])
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(v[i:end].text())
		}
		i = v.skipSpace(end)
		if i >= len(v) || v[i] != ':' {
			return false
		}
		i = v.skipSpace(i + 1)
		end = v.endOfValue(i)
		if end < 0 {
			return false
		}
		f(key, v[i:end])
		i = v.skipSpace(end)
		if i >= len(v) {
			return false
		}
		switch v[i] {
		case ',':
			i = v.skipSpace(i + 1)
		case '}':
			return v.skipSpace(i+1) == len(v)
		default:
			return false
		}
	}
}

// elements calls f with each element of a list, with none if the value is no list.
func (v value) elements(f func(v value)) {
	i := v.skipSpace(0)
	if i >= len(v) || v[i] != '[' {
		return
	}
	i = v.skipSpace(i + 1)
	for i < len(v) && v[i] != ']' {
		end := v.endOfValue(i)
		if end < 0 {
			return
		}
		f(v[i:end])
		i = v.skipSpace(end)
		if i >= len(v) || v[i] != ',' {
			return
		}
		i = v.skipSpace(i + 1)
	}
}

// decode is the value of a string; false for any other value.
func (v value) decode() (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return strings.ToValidUTF8(string(inner), "\ufffd"), true
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return "", false
	}
	return s, true
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
	for i < len(v) && bytes.IndexByte([]byte(",:]} \t\r\n\"[{"), v[i]) < 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
