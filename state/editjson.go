package state

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A jsonText finds its way through JSON that is known to be valid.
type jsonText []byte

// A member is one field of an object, or one element of a list (no key).
type member struct {
	key, keyEnd int // of the key with its quotes
	value, end  int
}

// spliceJSON replaces the bytes of one value, or adds one field.
func spliceJSON(src []byte, set Set) ([]byte, error) {
	s := jsonText(src)
	at := s.space(len(src) - len(trimBOM(src)))
	text := encodeJSON(set.Value)
	for i, part := range set.Path {
		members, end := s.members(at)
		found := -1
		switch key := part.(type) {
		case int:
			if s[at] == '[' && key >= 0 && key < len(members) {
				found = key
			}
		case string:
			for j := range members {
				if s[at] == '{' && s.keyIs(members[j], key) {
					found = j // the last one counts
				}
			}
			if found < 0 && s[at] == '{' && i == len(set.Path)-1 {
				return s.addField(at, end, members, encodeJSON(key), text), nil
			}
		}
		if found < 0 {
			return nil, fmt.Errorf("there is no %v", part)
		}
		at = members[found].value
		if i == len(set.Path)-1 {
			return splice(src, at, members[found].end, text), nil
		}
	}
	return nil, errByHand
}

// members lists what the object or list at i holds, and where its closing
// bracket is. Other values hold nothing.
func (s jsonText) members(i int) (list []member, end int) {
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

func (s jsonText) keyIs(m member, name string) bool {
	var key string
	return json.Unmarshal(s[m.key:m.keyEnd], &key) == nil && key == name
}

func (s jsonText) space(i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// skip gives the offset behind the value at i.
func (s jsonText) skip(i int) int {
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

// addField puts a field behind the last one of the object that begins at
// open and ends at end, in the style of its neighbours, or of the file if it
// has none.
func (s jsonText) addField(open, end int, members []member, key, value []byte) []byte {
	if len(members) == 0 {
		return s.fillObject(open, end, key, value)
	}
	last := members[len(members)-1]
	colon := s[last.keyEnd:last.value]
	before := s.before(last.key)
	if len(members) == 1 && bytes.IndexByte(before, '\n') < 0 {
		// { "a": 1 } has a blank behind the bracket that tells nothing of commas.
		before = nil
		if bytes.HasSuffix(colon, []byte(" ")) {
			before = []byte(" ")
		}
	}
	text := bytes.Join([][]byte{{','}, before, key, colon, value}, nil)
	return splice(s, last.end, last.end, text)
}

// before gives the white space in front of i, without blank lines.
func (s jsonText) before(i int) []byte {
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

// fillObject puts the first field into an object. It stands on its own line if
// the fields of the file's outermost object do.
func (s jsonText) fillObject(open, end int, key, value []byte) []byte {
	colon := []byte(": ")
	var unit []byte // line break and indentation of the outermost fields
	if members, _ := s.members(s.space(len(s) - len(trimBOM(s)))); len(members) > 0 {
		colon = s[members[0].keyEnd:members[0].value]
		unit = s.before(members[0].key)
	}
	field := bytes.Join([][]byte{key, colon, value}, nil)
	nl := bytes.IndexByte(unit, '\n')
	if nl < 0 {
		return splice(s, open+1, end, field)
	}
	lineStart := bytes.LastIndexByte(s[:open], '\n') + 1
	indent := s[lineStart:s.blanks(lineStart)]
	return splice(s, open+1, end, bytes.Join([][]byte{unit[:nl+1], indent, unit[nl+1:], field, unit[:nl+1], indent}, nil))
}

// blanks gives the offset behind the indentation that starts at i.
func (s jsonText) blanks(i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}
