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

// Put returns src, one JSON object that may have comments, with value, which is also JSON and keeps its order of
// fields, at path. It replaces an existing value; a missing field becomes the last of its object; the length of a list
// as an index appends to it. It creates what is missing on the path: an object before a name, a list before 0.
//
// New text has the style of the file: its indentation and line breaks, each field on its own line if the others are, a
// list of plain values on one line. No other byte changes, and [Cut] restores them: in an object or a list that was empty
// a blank and its own white space follow the value, or a tab if it had none, see [Filled]. Put decodes the result to verify
// it, and otherwise returns an error.
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

// New returns a file of one JSON object with only value, which is JSON, at path.
func New(path []any, value []byte) []byte {
	return append(style{newline: "\n", unit: "  ", colon: ": "}.value(nil, wrap(path, value), ""), '\n')
}

// Filled reports whether the one member of what is at path was put into an empty object or list.
func Filled(src []byte, path []any) bool {
	s := source(Uncommented(src))
	at := s.outermost()
	members, _ := s.members(at)
	for _, part := range path {
		found := s.find(members, part)
		if found < 0 {
			return false
		}
		members, _ = s.members(members[found].Start)
	}
	return len(members) == 1 && s.mark(members[0]) != 0
}

// mark returns what follows a member that was put into an empty object or list: a blank or a tab; 0 if it was not.
func (s source) mark(m jsontext.Member) byte {
	if c := s[m.End]; c == ' ' || c == '\t' {
		return c
	}
	return 0
}

// Set is like Put for callers with their own checks: path must exist except for its last part, the result is compared,
// and value is inserted unchanged.
func Set(src []byte, path []any, value []byte) ([]byte, error) {
	at, err := source(src).put(path, value, true)
	return at.in(src), err
}

// Cut returns src, one JSON object, without the field or element at path, its comma and its line. No other byte
// changes. Cut decodes the result to verify it, and returns an error if nothing is at path or a comment would be
// removed.
func Cut(src []byte, path []any) ([]byte, error) {
	return change(src, path, func(doc any, s source) (want any, at splice, err error) {
		if want, err = model(doc, path, nil, cut); err != nil {
			return nil, at, err
		}
		at, err = s.cut(path)
		return want, at, err
	})
}

// errByHand is for text that an edit would harm.
var errByHand = errors.New("it is written in a way that cannot be edited without harming the rest; edit it by hand")

// errComment is for a change that would remove a comment.
var errComment = errors.New("the change would remove a comment; move that comment first")

// A splice replaces the bytes from start to end with text.
type splice struct {
	start, end int
	text       []byte
}

func (s splice) in(src []byte) []byte {
	return slices.Concat(src[:s.start], s.text, src[s.end:])
}

// change makes an edit, and verifies that the result decodes to what was intended.
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

// Assign returns a copy of a decoded document with value at path, all but the last part of which must exist. Other
// parts are shared. Errors say why the path does not exist.
func Assign(v any, path []any, value any) (any, error) { return model(v, path, value, set) }

// What a change does at its path.
type how uint8

const (
	set how = iota // the last part may be a missing field
	put            // creates what is missing, and appends to a list
	cut            // removes the value
)

// model returns the decoded document after a change.
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
	return nil, fmt.Errorf("a path must consist of strings and whole numbers; got %T", path[0])
}

// put inserts a value at path, in the style of the file or unchanged.
func (s source) put(path []any, value []byte, asIs bool) (splice, error) {
	at := s.outermost()
	st := s.fileStyle(asIs)
	for i, part := range path {
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

// cut removes the value at path, as Cut does.
func (s source) cut(path []any) (splice, error) {
	at := s.outermost()
	for i, part := range path {
		members, end := s.members(at)
		found := s.find(members, part)
		switch {
		case i < len(path)-1:
			at = members[found].Start
		case len(members) == 1 && s.mark(members[0]) == ' ':
			return splice{at + 1, members[0].End + 1, nil}, nil
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

// find returns the index of the last member that part names, or -1.
func (s source) find(members []jsontext.Member, part any) int {
	for i, m := range slices.Backward(members) {
		if part == i || m.KeyEnd > m.KeyStart && jsontext.Value(s[m.KeyStart:m.KeyEnd]).Text() == part {
			return i
		}
	}
	return -1
}

// wrap returns value within the objects and lists of a path.
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

// addMember appends a field, or an element if key is empty and it is a list, in the style of its neighbours, or of the
// file if there are none.
func (s source) addMember(st style, open, end int, members []jsontext.Member, key string, value []byte) splice {
	var name []byte
	if s[open] == '{' {
		name = jsontext.Encode(key)
	}
	if len(members) == 0 {
		outer, inner := "", ""
		if st.newline != "" {
			outer = st.newline + s.indentAt(open)
			inner = outer + st.unit
		}
		text := inner + string(st.member(name, value, strings.TrimPrefix(inner, st.newline)))
		switch {
		case st.asIs:
			return splice{open + 1, end, []byte(text + outer)}
		case end == open+1 && outer != "": // it had no white space
			return splice{open + 1, end, []byte(text + "\t" + outer)}
		}
		return splice{open + 1, open + 1, []byte(text + " ")}
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
			before = nil // the blank after the bracket is not one after a comma
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
	newline string // "" if the file is a single line
	unit    string // of indentation
	colon   string // between key and value
	asIs    bool   // write values unchanged
}

// fileStyle returns the style of the outermost fields. An empty file gets the usual style, unless an unchanged value
// keeps it on one line.
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

// inStyle returns a value that begins at i.
func (s source) inStyle(st style, i int, value []byte) []byte {
	lineStart := bytes.LastIndexByte(s[:i], '\n') + 1
	if bytes.ContainsAny(s[lineStart:i], "{[") {
		st.newline = "" // its neighbours share the line
	}
	return st.value(nil, value, s.indentAt(i))
}

// indentAt returns the indentation of the line of i.
func (s source) indentAt(i int) string {
	lineStart := bytes.LastIndexByte(s[:i], '\n') + 1
	line := s[lineStart:i]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// member returns a field, or an element if key is nil.
func (st style) member(key, value []byte, indent string) []byte {
	var out []byte
	if key != nil {
		out = append(append(out, key...), st.colon...)
	}
	return st.value(out, value, indent)
}

// value appends JSON in this style; indent is that of its first line.
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
