package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Bounds of a text that is edited: the parser takes many times its size, and has no bound of its own on brackets.
const (
	maxEdited   = 2 << 20 // bytes
	maxBrackets = 100_000
)

// SetJSON sets the value at a path of fields and indices in a JSON text and keeps every other byte, comments and commas before a closing
// bracket too. A field that is not there is added in the style of the text, with the objects around it; an index that is not there is an
// error. An empty path sets the whole. An empty text is an object without fields. Duplicate keys on the way are an error, and so is a text
// of more than 2 MiB.
func SetJSON(b []byte, path []any, value any) ([]byte, error) {
	src, err := encodeJSON(value)
	if err != nil {
		return nil, err
	}
	value = json.RawMessage(src)
	text := bytes.TrimPrefix(b, bom)
	mark := b[:len(b)-len(text)]
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	at, style := &root, styleOf(&root, text)
	for i := range path {
		next, before, err := member(at, path[i])
		if err == nil && next == nil {
			if value, err = wrap(path[i+1:], value); err == nil {
				style.add(at, path[i].(string), value)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("cannot set %s: %w", pathText(path[:i+1]), err)
		}
		if next == nil {
			return join(mark, root.Pack()), nil
		}
		at, style = next, style.within(before)
	}
	at.Value = style.literal(value)
	return join(mark, root.Pack()), nil
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// parseJSONC parses JSON, also with comments.
func parseJSONC(text []byte) (hujson.Value, error) {
	if len(text) > maxEdited {
		return hujson.Value{}, fmt.Errorf("is larger than %d MiB, the most that is edited", maxEdited>>20)
	}
	_, strict := ParseJSON(text)
	if strict != nil && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return hujson.Value{}, strict
	}
	v, err := hujson.Parse(text)
	if err != nil && strict != nil {
		err = strict // it has the better words
	}
	return v, err
}

// encodeJSON returns a value on one line, without escapes for web pages.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// wrap returns a value within the objects of a path.
func wrap(path []any, value any) (any, error) {
	for _, step := range slices.Backward(path) {
		key, ok := step.(string)
		if !ok {
			return nil, fmt.Errorf("there is no list that could have an element %v", step)
		}
		value = map[string]any{key: value}
	}
	return value, nil
}

// pathText writes a path as expressions do.
func pathText(path []any) string {
	var b strings.Builder
	for _, step := range path {
		if key, ok := step.(string); ok {
			b.WriteString("." + key)
		} else {
			fmt.Fprintf(&b, "[%v]", step)
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// member returns the member of a value, or nil if it is a field that can be added, and the white space and comments before it.
func member(v *hujson.Value, step any) (found *hujson.Value, before hujson.Extra, err error) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		key, ok := step.(string)
		if !ok {
			return nil, nil, errors.New("there is an object, which has no element by number")
		}
		for i := range c.Members {
			m := &c.Members[i]
			if name, ok := m.Name.Value.(hujson.Literal); ok && name.String() == key {
				if found != nil {
					return nil, nil, fmt.Errorf("the key %q appears twice: remove one of them", key)
				}
				found, before = &m.Value, m.Name.BeforeExtra
			}
		}
		return found, before, nil
	case *hujson.Array:
		i, ok := step.(int)
		if !ok || i < 0 || i >= len(c.Elements) {
			return nil, nil, fmt.Errorf("there is a list of %d elements", len(c.Elements))
		}
		return &c.Elements[i], c.Elements[i].BeforeExtra, nil
	}
	if _, ok := step.(string); ok && v.Value.Kind() == 'n' {
		return nil, nil, nil // null counts as absent
	}
	return nil, nil, errors.New("the value has no fields and no elements")
}

// jsonStyle is how a text is laid out around one value.
type jsonStyle struct {
	lines  bool   // members have lines of their own
	indent string // of the value's line
	nl     string // line end
	unit   string // of indentation
	colon  string // after the colon
}

// styleOf looks at the first member of the whole.
func styleOf(root *hujson.Value, text []byte) jsonStyle {
	s := jsonStyle{lines: true, nl: "\n", unit: "  ", colon: " "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.nl = "\r\n"
	}
	if c, ok := root.Value.(*hujson.Object); ok && len(c.Members) > 0 {
		first := s.within(c.Members[0].Name.BeforeExtra)
		s.lines, s.unit = first.lines, first.indent
		if extra := c.Members[0].Value.BeforeExtra; len(bytes.Trim(extra, " ")) == 0 {
			s.colon = string(extra)
		}
	}
	return s
}

// within returns the style of a member, by what comes before it.
func (s jsonStyle) within(before hujson.Extra) jsonStyle {
	end := bytes.LastIndexByte(before, '\n')
	if s.lines = s.lines && end >= 0; s.lines {
		s.indent = string(before[end+1:])
	}
	return s
}

// literal returns a value in this style.
func (s jsonStyle) literal(value any) hujson.Literal {
	var out bytes.Buffer
	src, _ := encodeJSON(value) // it was encoded before
	if !s.lines || json.Indent(&out, src, s.indent, s.unit) != nil {
		return src
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(s.nl))
}

// add adds a field to an object, laid out as the last one is.
func (s jsonStyle) add(v *hujson.Value, key string, value any) {
	c, ok := v.Value.(*hujson.Object)
	if !ok { // null
		v.Value = s.literal(map[string]any{key: value})
		return
	}
	name, _ := encodeJSON(key)
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.Literal(name)}, Value: hujson.Value{BeforeExtra: hujson.Extra(s.colon)}}
	if n := len(c.Members); n > 0 {
		last := &c.Members[n-1]
		if s = s.within(last.Name.BeforeExtra); s.lines {
			m.Name.BeforeExtra = hujson.Extra(s.nl + s.indent)
		} else {
			m.Name.BeforeExtra = hujson.Extra(s.colon) // a blank, or none
		}
		m.Value.AfterExtra, last.Value.AfterExtra = last.Value.AfterExtra, nil // its comma before the bracket
	} else {
		if len(bytes.TrimSpace(c.AfterExtra)) == 0 { // no comment
			c.AfterExtra = nil
			if s.lines {
				c.AfterExtra = hujson.Extra(s.nl + s.indent)
			}
		}
		if s.lines {
			s.indent += s.unit
			m.Name.BeforeExtra = hujson.Extra(s.nl + s.indent)
		}
	}
	m.Value.Value = s.literal(value)
	c.Members = append(c.Members, m)
}
