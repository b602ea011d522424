package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A source finds its way through JSON that is known to be valid.
type source []byte

// A member is one field of an object, or one element of a list (no key).
type member struct {
	key, keyEnd int // of the key with its quotes
	value, end  int
}

// members lists what the object or list at i holds, and where its closing
// bracket is. Other values hold nothing.
func (s source) members(i int) (list []member, end int) {
	if s[i] != '{' && s[i] != '[' {
		return nil, i
	}
	object := s[i] == '{'
	for i = s.space(i + 1); s[i] != '}' && s[i] != ']'; {
		m := member{key: i, keyEnd: i}
		if object {
			m.keyEnd = s.skip(i)
			i = s.space(s.space(m.keyEnd) + 1) // the colon
		}
		m.value, m.end = i, s.skip(i)
		list = append(list, m)
		if i = s.space(m.end); s[i] == ',' {
			i = s.space(i + 1)
		}
	}
	return list, i
}

func (s source) keyIs(m member, name string) bool {
	var key string
	return json.Unmarshal(s[m.key:m.keyEnd], &key) == nil && key == name
}

func (s source) space(i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// skip gives the offset behind the value at i.
func (s source) skip(i int) int {
	switch s[i] {
	case '"':
		for i++; s[i] != '"'; i++ {
			if s[i] == '\\' {
				i++
			}
		}
		return i + 1
	case '{', '[':
		for depth := 0; ; {
			switch s[i] {
			case '"':
				i = s.skip(i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
	}
	for i < len(s) && bytes.IndexByte([]byte(",]} \t\r\n"), s[i]) < 0 {
		i++
	}
	return i
}

// before gives the white space in front of i, without blank lines.
func (s source) before(i int) []byte {
	start := i
	for start > 0 && bytes.IndexByte([]byte(" \t\r\n"), s[start-1]) >= 0 {
		start--
	}
	white := s[start:i]
	if nl := bytes.LastIndexByte(white, '\n'); nl > 0 {
		if white[nl-1] == '\r' {
			nl--
		}
		white = white[nl:]
	}
	return white
}

// blanks gives the offset behind the indentation that starts at i.
func (s source) blanks(i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// outermost gives the offset of the outermost value.
func (s source) outermost() int { return s.space(len(s) - len(bytes.TrimPrefix(s, bom))) }

var bom = []byte("\xef\xbb\xbf")

// splice replaces src[start:end].
func splice(src []byte, start, end int, text []byte) []byte {
	return slices.Concat(src[:start], text, src[end:])
}
