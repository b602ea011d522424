package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/schema"
)

// Put gives src, one JSON object that may have comments, with the value at path, which is written as
// JSON too and keeps its order of fields. A value that is there is replaced; an
// absent field becomes the last of its object; the number of elements of a list
// stands for one more. What is absent on the way to it is made: an object where
// path goes on with a name, a list where it goes on with 0.
//
// New text stands in the style of the file: its indentation and line breaks, each
// field on its own line where the others are, a list of plain values on one line.
// No other byte changes. The result was decoded again and compared; what cannot be
// done so is an error.
func Put(src []byte, path []any, value []byte) ([]byte, error) {
	return change(src, path, func(doc any, s source) (want any, at splice, err error) {
		parsed, err := schema.ParseJSON(value)
		if err != nil {
			return nil, at, fmt.Errorf("the new value is not JSON: %w", err)
		}
		if want, err = model(doc, path, parsed.Value, put); err != nil {
			return nil, at, err
		}
		at, err = s.put(path, bytes.TrimSpace(bytes.TrimPrefix(value, bom)), false)
		return want, at, err
	})
}

// Set is Put for a caller who checks more than the text: all but the last part of
// path is there, what the result decodes to is compared, and value is written as it is.
func Set(src []byte, path []any, value []byte) ([]byte, error) {
	at, err := source(src).put(path, value, true)
	return at.in(src), err
}

// Cut gives src, one JSON object, without the field or element at path, and
// without the comma and the line that it leaves behind. No other byte changes. The
// result was decoded again and compared; what cannot be done so, also because
// nothing is there or a comment would go, is an error.
func Cut(src []byte, path []any) ([]byte, error) {
	return change(src, path, func(doc any, s source) (want any, at splice, err error) {
		if want, err = model(doc, path, nil, cut); err != nil {
			return nil, at, err
		}
		at, err = s.cut(path)
		return want, at, err
	})
}

// errByHand is for spots that an edit would harm.
var errByHand = errors.New("it is written in a way that cannot be edited without harming the rest; repair it by hand")

// errComment is for a change that a comment is in the way of.
var errComment = errors.New("the change would remove a comment; move that comment first")

// A splice is text instead of the bytes from start to end.
type splice struct {
	start, end int
	text       []byte
}

func (s splice) in(src []byte) []byte {
	return slices.Concat(src[:s.start], s.text, src[s.end:])
}

// change believes an edit only if the result decodes to what was asked for.
func change(src []byte, path []any, edit func(doc any, s source) (want any, at splice, err error)) ([]byte, error) {
	plain := Uncommented(src)
	before, err := Decode(plain)
	if err != nil {
		return nil, fmt.Errorf("the file %w", err)
	}
	if len(path) == 0 {
		return nil, errors.New("there is no path: name the field to change")
	}
	want, at, err := edit(before.Value, source(plain))
	for _, c := range comments(src) {
		if err == nil && c.start < at.end && at.start < c.end {
			err = errComment
		}
	}
	edited := src
	if err == nil {
		edited = at.in(src)
		after, broken := Decode(Uncommented(edited))
		if broken != nil || !reflect.DeepEqual(after.Value, want) {
			err = errByHand
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot set %s: %w", schema.PointerOf(path), err)
	}
	return edited, nil
}

// Assign returns a copy of a decoded document with value at path, all but the last part of which must exist. What path
// does not touch is shared. Errors say why the path leads nowhere.
func Assign(v any, path []any, value any) (any, error) { return model(v, path, value, set) }

// How a change finds its place.
type how uint8

const (
	set how = iota // the place may be a missing field
	put            // what is missing on the way is made, and the next element of a list
	cut            // what is there goes
)

// model is the decoded document after a change.
func model(v any, path []any, value any, h how) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	ends := len(path) == 1 && h == cut
	switch key := path[0].(type) {
	case string:
		object, ok := v.(map[string]any)
		if !ok && (v != nil || h != put) {
			return nil, fmt.Errorf("there is no object that could have the field %q, but %s", key, jsontext.Kind(v))
		}
		if _, ok := object[key]; !ok && h != put && (len(path) > 1 || ends) {
			return nil, fmt.Errorf("there is no field %q", key)
		}
		copied := make(map[string]any, len(object)+1)
		maps.Copy(copied, object)
		if ends {
			delete(copied, key)
			return copied, nil
		}
		inner, err := model(object[key], path[1:], value, h)
		copied[key] = inner
		return copied, err
	case int:
		list, ok := v.([]any)
		if !ok && (v != nil || h != put) {
			return nil, fmt.Errorf("there is no list that could have an element %d, but %s", key, jsontext.Kind(v))
		}
		copied := slices.Clone(list)
		if h == put && key == len(list) {
			copied = append(copied, nil)
		}
		if key < 0 || key >= len(copied) {
			return nil, fmt.Errorf("there is no element %d in a list of %d", key, len(list))
		}
		if ends {
			return slices.Delete(copied, key, key+1), nil
		}
		inner, err := model(copied[key], path[1:], value, h)
		copied[key] = inner
		return copied, err
	}
	return nil, fmt.Errorf("a path consists of text and whole numbers, not of %T", path[0])
}

// put writes a value at path, in the style of the file or as it is.
func (s source) put(path []any, value []byte, asIs bool) (splice, error) {
	at := s.outermost()
	st := s.fileStyle(asIs)
	for i, part := range path {
		if string(s[at:s.skip(at)]) == "null" {
			// Nothing was said yet; what is made takes its place.
			return splice{at, at + len("null"), s.inStyle(st, at, wrap(path[i:], value))}, nil
		}
		members, end := s.members(at)
		found := s.find(members, part)
		if found < 0 {
			key, _ := part.(string)
			return s.addMember(st, at, end, members, key, wrap(path[i+1:], value)), nil
		}
		at = members[found].Start
	}
	return splice{at, s.skip(at), s.inStyle(st, at, value)}, nil
}

// cut removes what is at path, as Cut does.
func (s source) cut(path []any) (splice, error) {
	at := s.outermost()
	for i, part := range path {
		members, end := s.members(at)
		found := s.find(members, part)
		switch {
		case i < len(path)-1:
			at = members[found].Start
		case len(members) == 1:
			return splice{at + 1, end, nil}, nil
		case found == len(members)-1:
			return splice{members[found-1].End, members[found].End, nil}, nil
		default:
			return splice{members[found].KeyStart, members[found+1].KeyStart, nil}, nil
		}
	}
	return splice{}, errByHand
}

// find returns the index of the member that part names, the last of several, or -1.
func (s source) find(members []jsontext.Member, part any) int {
	for i, m := range slices.Backward(members) {
		if part == i || m.KeyEnd > m.KeyStart && jsontext.Value(s[m.KeyStart:m.KeyEnd]).Text() == part {
			return i
		}
	}
	return -1
}

// wrap makes the objects and lists that lead to value.
func wrap(path []any, value []byte) []byte {
	for i := len(path) - 1; i >= 0; i-- {
		if key, ok := path[i].(string); ok {
			value = bytes.Join([][]byte{{'{'}, jsontext.Encode(key), {':'}, value, {'}'}}, nil)
		} else {
			value = bytes.Join([][]byte{{'['}, value, {']'}}, nil)
		}
	}
	return value
}

// addMember puts a field, or an element if key is empty and it is a list, behind
// the last one, in the style of its neighbours, or of the file if there are none.
func (s source) addMember(st style, open, end int, members []jsontext.Member, key string, value []byte) splice {
	var name []byte
	if s[open] == '{' {
		name = jsontext.Encode(key)
	}
	if len(members) == 0 {
		if st.newline == "" {
			return splice{open + 1, end, st.member(name, value, "")}
		}
		outer := s.indentAt(open)
		inner := outer + st.unit
		return splice{open + 1, end, []byte(st.newline + inner + string(st.member(name, value, inner)) + st.newline + outer)}
	}
	last := members[len(members)-1]
	if name != nil {
		st.colon = string(s[last.KeyEnd:last.Start])
	}
	before := s.before(last.KeyStart)
	nl := bytes.LastIndexByte(before, '\n')
	if nl < 0 { // on one line with its neighbours
		st.newline = ""
		if len(members) == 1 {
			before = nil // the blank behind the bracket says nothing of commas
			if strings.HasSuffix(st.colon, " ") {
				before = []byte(" ")
			}
		}
	}
	text := append([]byte{','}, before...)
	return splice{last.End, last.End, append(text, st.member(name, value, string(before[nl+1:]))...)}
}

// A style is how a file is laid out.
type style struct {
	newline string // "" if the file stands on one line
	unit    string // of indentation
	colon   string // between key and value
	asIs    bool   // values are written as they are
}

// fileStyle looks at the outermost fields. A file without any is laid out as most
// are, unless it stays on one line with a value that is written as it is.
func (s source) fileStyle(asIs bool) style {
	members, _ := s.members(s.outermost())
	st := style{asIs: asIs, colon: ": "}
	switch {
	case len(members) > 0:
		st.colon = string(s[members[0].KeyEnd:members[0].Start])
		before := s.before(members[0].KeyStart)
		if nl := bytes.LastIndexByte(before, '\n'); nl >= 0 {
			st.newline, st.unit = string(before[:nl+1]), string(before[nl+1:])
		}
	case !asIs:
		st.newline, st.unit = "\n", "  "
	}
	return st
}

// inStyle writes a value that begins at i.
func (s source) inStyle(st style, i int, value []byte) []byte {
	lineStart := bytes.LastIndexByte(s[:i], '\n') + 1
	if bytes.ContainsAny(s[lineStart:i], "{[") {
		st.newline = "" // its neighbours share the line
	}
	return st.value(nil, value, s.indentAt(i))
}

// indentAt is the indentation of the line that i is on.
func (s source) indentAt(i int) string {
	lineStart := bytes.LastIndexByte(s[:i], '\n') + 1
	line := s[lineStart:i]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// member writes a field, or an element if key is nil.
func (st style) member(key, value []byte, indent string) []byte {
	var out []byte
	if key != nil {
		out = append(append(out, key...), st.colon...)
	}
	return st.value(out, value, indent)
}

// value writes JSON in this style; indent is that of the line that it begins on.
func (st style) value(out, value []byte, indent string) []byte {
	if st.asIs {
		return append(out, value...)
	}
	if st.newline == "" && st.colon == ":" {
		var b bytes.Buffer
		if json.Compact(&b, value) == nil {
			return append(out, b.Bytes()...)
		}
	}
	s := source(value)
	members, end := s.members(0)
	if len(members) == 0 {
		if end > 0 {
			return append(out, s[0], s[end])
		}
		return append(out, value...)
	}
	lines := st.newline != "" && (s[0] == '{' || !s.plain(members))
	out = append(out, s[0])
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		switch {
		case lines:
			out = append(append(append(out, st.newline...), indent...), st.unit...)
		case i > 0:
			out = append(out, ' ')
		}
		if s[0] == '{' {
			out = append(append(out, s[m.KeyStart:m.KeyEnd]...), st.colon...)
		}
		out = st.value(out, s[m.Start:m.End], indent+st.unit)
	}
	if lines {
		out = append(append(out, st.newline...), indent...)
	}
	return append(out, s[end])
}

// plain reports whether no member is an object or a list.
func (s source) plain(members []jsontext.Member) bool {
	for _, m := range members {
		if s[m.Start] == '{' || s[m.Start] == '[' {
			return false
		}
	}
	return true
}
