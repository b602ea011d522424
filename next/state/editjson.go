package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// maxNested bounds the brackets of a text that only the parser with comments reads, which has no bound of its own.
const maxNested = 100_000

// SetJSON sets the value at a path of fields and indices in a JSON text and keeps every other byte, comments and commas before a closing
// bracket too. A field that is not there is added in the style of the text, with the objects around it; the index after the last one of
// a list adds an element; an empty path sets the whole. An empty text is an object without fields. Duplicate keys on the way are an error.
func SetJSON(b []byte, path []any, value any) ([]byte, error) {
	src, err := encodeJSON(value)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 || len(bytes.TrimSpace(bytes.TrimPrefix(b, bom))) == 0 {
		var out bytes.Buffer
		if src, err = wrap(path, src); err != nil {
			return nil, err
		}
		err = json.Indent(&out, src, "", "  ")
		return append(out.Bytes(), '\n'), err
	}
	text := bytes.TrimPrefix(b, bom)
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	e := jsonEdit{text: text, at: &root}
	e.style()
	for i := range path {
		deeper, err := e.enter(path[i])
		if err != nil {
			return nil, fmt.Errorf("cannot set %s: %w", pathText(path[:i+1]), err)
		}
		if !deeper {
			if src, err = wrap(path[i+1:], src); err == nil {
				src, err = e.member(path[i], src)
			}
			return join(b[:len(b)-len(text)], text[:e.from], src, text[e.to:]), err
		}
	}
	e.from, e.to = e.at.StartOffset, e.at.EndOffset
	return join(b[:len(b)-len(text)], text[:e.from], e.render(src, e.from), text[e.to:]), nil
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// parseJSONC parses JSON, also with comments. The offsets are those of the text.
func parseJSONC(text []byte) (hujson.Value, error) {
	_, strict := ParseJSON(text)
	if strict != nil && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxNested {
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
func wrap(path []any, value []byte) ([]byte, error) {
	for i := len(path) - 1; i >= 0; i-- {
		key, ok := path[i].(string)
		if !ok {
			return nil, fmt.Errorf("cannot set %s: there is no list", pathText(path[:i+1]))
		}
		name, err := encodeJSON(key)
		if err != nil {
			return nil, err
		}
		value = join([]byte("{"), name, []byte(":"), value, []byte("}"))
	}
	return value, nil
}

// pathText writes a path as expressions do.
func pathText(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch s, ok := step.(string); {
		case !ok:
			fmt.Fprintf(&b, "[%v]", step)
		case i == 0:
			b.WriteString(s)
		default:
			b.WriteString("." + s)
		}
	}
	return b.String()
}

// jsonEdit is an edit on its way down to the value at a path.
type jsonEdit struct {
	text     []byte
	at       *hujson.Value // the value that was reached
	from, to int           // what the edit replaces

	// The style of the text.
	lines bool   // the outermost members have lines of their own
	nl    string // line end
	unit  string // of indentation
	colon string // between key and value
}

// style looks at the first member of the whole.
func (e *jsonEdit) style() {
	e.colon = ": "
	first, rest := e.at, []byte(nil)
	switch c := e.at.Value.(type) {
	case *hujson.Object:
		if len(c.Members) > 0 {
			m := c.Members[0]
			first, rest = &m.Name, e.text[m.Name.EndOffset:m.Value.StartOffset]
		}
	case *hujson.Array:
		if len(c.Elements) > 0 {
			first = &c.Elements[0]
		}
	}
	if len(bytes.Trim(rest, " :")) == 0 && len(rest) > 0 {
		e.colon = string(rest)
	}
	switch {
	case first == e.at: // it has no members
		e.lines, e.unit = true, "  "
	case bytes.IndexByte(first.BeforeExtra, '\n') >= 0:
		e.lines, e.unit = true, e.indentAt(first.StartOffset)
	}
	if e.nl = "\n"; bytes.Contains(e.text, []byte("\r\n")) {
		e.nl = "\r\n"
	}
}

// indentAt returns the white space before the line of an offset.
func (e *jsonEdit) indentAt(at int) string {
	line := e.text[bytes.LastIndexByte(e.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// enter goes one step down. It returns false if there is nothing: the step is to be added.
func (e *jsonEdit) enter(step any) (bool, error) {
	switch c := e.at.Value.(type) {
	case *hujson.Object:
		key, ok := step.(string)
		if !ok {
			return false, errors.New("there is an object, which has no element by number")
		}
		var found *hujson.Value
		for i := range c.Members {
			if name, ok := c.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
				if found != nil {
					return false, fmt.Errorf("the key %q appears twice: remove one of them", key)
				}
				found = &c.Members[i].Value
			}
		}
		if found != nil {
			e.at = found
		}
		return found != nil, nil
	case *hujson.Array:
		i, ok := step.(int)
		if !ok || i < 0 || i > len(c.Elements) {
			return false, fmt.Errorf("there is a list of %d elements", len(c.Elements))
		}
		if i < len(c.Elements) {
			e.at = &c.Elements[i]
		}
		return i < len(c.Elements), nil
	}
	if lit, ok := e.at.Value.(hujson.Literal); !ok || lit.Kind() != 'n' {
		return false, errors.New("there is neither an object nor a list around it")
	}
	return false, nil // null, which counts as absent
}

// member returns the text that adds a member to the value that was reached, and sets where it goes.
func (e *jsonEdit) member(step any, value []byte) ([]byte, error) {
	var last *hujson.Value // the last member
	var before []byte      // what comes before it, from the bracket or the comma
	var name []byte
	if key, ok := step.(string); ok {
		name, _ = encodeJSON(key)
	}
	switch c := e.at.Value.(type) {
	case *hujson.Object:
		if n := len(c.Members); n > 0 {
			last, before = &c.Members[n-1].Value, c.Members[n-1].Name.BeforeExtra
		}
	case *hujson.Array:
		if n := len(c.Elements); n > 0 {
			last, before = &c.Elements[n-1], c.Elements[n-1].BeforeExtra
		}
	default: // null
		value, err := wrap([]any{step}, value)
		e.from, e.to = e.at.StartOffset, e.at.EndOffset
		return e.render(value, e.from), err
	}
	open, end := e.at.StartOffset, e.at.EndOffset
	lines := e.lines && !e.inline(open)
	indent := e.indentAt(open) + e.unit
	if last != nil {
		e.from, e.to = last.EndOffset, last.EndOffset
		lines, indent = bytes.IndexByte(before, '\n') >= 0, e.indentAt(last.StartOffset)
	} else {
		e.from, e.to = open+1, end-1
		if len(bytes.TrimSpace(e.text[e.from:e.to])) > 0 { // a comment
			e.to = e.from
		}
	}
	text := e.format(value, indent, lines)
	if name != nil {
		text = join(name, []byte(e.colon), text)
	}
	switch {
	case lines:
		text = join([]byte(e.nl+indent), text)
	case last != nil && (strings.HasSuffix(e.colon, " ") || bytes.HasPrefix(before, []byte(" "))):
		text = join([]byte(" "), text)
	}
	switch {
	case last != nil:
		return join([]byte(","), text), nil
	case lines:
		return join(text, []byte(e.nl+e.indentAt(open))), nil
	}
	return text, nil
}

// inline reports whether a value shares its line with the object or list around it.
func (e *jsonEdit) inline(at int) bool {
	line := e.text[bytes.LastIndexByte(e.text[:at], '\n')+1 : at]
	return bytes.ContainsAny(line, "{[")
}

// render returns a value that begins at an offset.
func (e *jsonEdit) render(value []byte, at int) []byte {
	return e.format(value, e.indentAt(at), e.lines && !e.inline(at))
}

// format returns a value in the style of the text; indent is that of its first line.
func (e *jsonEdit) format(value []byte, indent string, lines bool) []byte {
	if !lines {
		return value
	}
	var out bytes.Buffer
	if json.Indent(&out, value, indent, e.unit) != nil {
		return value
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(e.nl))
}
