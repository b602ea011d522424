package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// errByHand is for front matter that an edit would harm.
var errByHand = errors.New("it is written in a way that cannot be changed without changing the rest: edit it by hand")

// SetFrontMatter does the same as [SetJSON] in front matter; the path is one field, and "body" is the text below. An empty path sets the
// whole, an object whose field body is the text. A text without front matter gets some.
//
// A text stays without quotes, or in single ones, if it can. Lists and objects are written as JSON on one line. A field that fills several
// lines, or appears twice, is an error.
func SetFrontMatter(b []byte, path []any, value any) ([]byte, error) {
	src, err := encodeJSON(value)
	if err == nil {
		value, err = ParseJSON(src) // as it will be read
	}
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return newMatter(value)
	}
	name, ok := path[0].(string)
	if !ok || len(path) > 1 {
		return nil, fmt.Errorf("cannot set %s: front matter has fields, and nothing within them can be set", pathText(path))
	}
	m, err := split(b)
	if errors.Is(err, fs.ErrNotExist) {
		head, nl := len(b)-len(bytes.TrimPrefix(b, bom)), "\n"
		if bytes.Contains(b, []byte("\r\n")) {
			nl = "\r\n"
		}
		b = join(b[:head], []byte("---"+nl+"---"+nl), b[head:])
		m, err = split(b)
	}
	if err != nil {
		return nil, err
	}
	want, err := ParseFrontMatter(b)
	if err != nil {
		return nil, err
	}
	_, known := want[name]
	edited, err := m.set(b, name, known, value)
	if err == nil {
		want[name] = value
		if got, err2 := ParseFrontMatter(edited); err2 != nil || !reflect.DeepEqual(got, want) {
			err = errByHand
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot set %s: %w", name, err)
	}
	return edited, nil
}

// newMatter writes a file of an object's fields.
func newMatter(value any) (b []byte, err error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("cannot set the whole: front matter is an object")
	}
	b = []byte("---\n---\n")
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if b, err = SetFrontMatter(b, []any{key}, fields[key]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// set replaces the value of one field. It may guess from the text, since its caller reads and compares the result.
func (m matter) set(b []byte, name string, known bool, value any) ([]byte, error) {
	if name == "body" {
		text, ok := value.(string)
		if !ok {
			return nil, errors.New("the body is a text")
		}
		if b[m.body-1] != '\n' {
			text = m.nl + text
		}
		return join(b[:m.body], []byte(text)), nil
	}
	put := func(from, to int, text string) ([]byte, error) {
		return join(b[:m.from+from], []byte(text), b[m.from+to:]), nil
	}
	all := fieldsOf(m.block)
	found := slices.IndexFunc(all, func(f field) bool { return f.key == name })
	switch {
	case found < 0 && known:
		return nil, errByHand
	case found < 0:
		indent := ""
		if len(all) > 0 {
			indent = all[0].indent
		}
		return put(len(m.block), len(m.block), indent+renderYAML(name, 0)+": "+renderYAML(value, 0)+m.nl)
	}
	f := all[found]
	_, rest, _ := bytes.Cut(m.block[f.to:f.below], []byte("\n"))
	switch {
	case slices.ContainsFunc(all[found+1:], func(f field) bool { return f.key == name }):
		return nil, errors.New("the key appears twice: remove one of them")
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("its value fills several lines: edit it by hand")
	}
	var quote byte
	if f.from < f.to {
		quote = m.block[f.from]
	}
	text := renderYAML(value, quote)
	if f.from == f.colon { // no blank
		text = " " + text
	}
	return put(f.from, f.to, text)
}

// plain is a text that every YAML parser reads as that text, also those of the older version.
var plain = lazy(`^[A-Za-z][A-Za-z0-9_./()+-]*(?: [A-Za-z0-9_./()+-]+)*$`)

// renderYAML returns a value on one line, a text in the quotes of the value that it replaces.
func renderYAML(v any, quote byte) string {
	text, ok := v.(string)
	printable := !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) })
	switch {
	case ok && quote == '\'' && printable:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case ok && quote != '"' && len(text) <= 200 && plain().MatchString(text) && !isWord(text):
		return text
	}
	src, _ := encodeJSON(v) // it was decoded from JSON
	var b strings.Builder
	for _, r := range string(src) {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else { // YAML reads it as a line end, or not at all
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// isWord reports whether a parser may read a text as something else.
func isWord(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	_, isText := scalar(text).(string)
	return !isText
}
