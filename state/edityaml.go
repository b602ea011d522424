package state

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// spliceFrontMatter replaces the bytes of one value on the line of its field, or adds a line below the last one. It may
// guess from the text, because the caller decodes and compares the result.
func spliceFrontMatter(src []byte, m *matter, name string, value any) ([]byte, error) {
	put := func(start, end int, text string) ([]byte, error) {
		return slices.Concat(src[:m.offset+start], []byte(text), src[m.offset+end:]), nil
	}
	fields, _ := rawFields(m.yaml)
	var field *rawField
	for i := range fields {
		if fields[i].key == name { // the last one counts
			field = &fields[i]
		}
	}
	old, known := m.value[name]
	switch {
	case field == nil && known:
		return nil, errByHand
	case field == nil:
		indent := ""
		if len(fields) > 0 {
			indent = fields[0].indent
		}
		return put(len(m.yaml), len(m.yaml), indent+renderKey(name)+": "+renderYAML(value, 0)+m.newline)
	case field.goesOn():
		return nil, errors.New("its value spans several lines; edit it by hand")
	}
	blank := ""
	plain, from, to := plainText(field.value())
	if strings.HasPrefix(plain, "#") && from > 0 {
		to = from // a comment
	}
	if from == to { // a blank must separate the value from the colon, and from a comment
		plain, from, to, blank = "", 0, 0, " "
	}
	raw := field.value()[from:to]
	if !reflect.DeepEqual(valueOf(raw), old) && plain != old {
		return nil, errByHand // the value is more than this text
	}
	style := yaml.Style(0)
	switch {
	case bytes.HasPrefix(raw, []byte("'")):
		style = yaml.SingleQuotedStyle
	case bytes.HasPrefix(raw, []byte(`"`)):
		style = yaml.DoubleQuotedStyle
	}
	at := field.at + field.colon + 1
	return put(at+from, at+to, blank+renderYAML(value, style))
}

// valueOf returns the YAML value of src; nil if it is not YAML.
func valueOf(src []byte) any {
	n, err := parseYAML(src)
	if n == nil || err != nil {
		return nil
	}
	v, _ := readYAML(n)
	return v
}

// renderKey returns the name of a field in a form that is found again.
func renderKey(name string) string {
	key := renderYAML(name, 0)
	if found, _, ok := keyOf([]byte(key + ":")); ok && found == name {
		return key
	}
	return jsonForYAML(string(jsontext.Encode(name)))
}

// onlyComment reports whether only blanks and a comment follow a value.
func onlyComment(tail []byte) bool {
	rest := bytes.TrimLeft(tail, " \t")
	return len(rest) == 0 || (rest[0] == '#' && len(rest) < len(tail))
}

// cutYAMLLine is cutLine for the line breaks of the YAML library: besides \n and \r\n also a lone \r, and three of
// Unicode.
func cutYAMLLine(src []byte) (line []byte, size int) {
	for i := 0; i < len(src); i += size {
		var r rune
		r, size = utf8.DecodeRune(src[i:])
		switch r {
		case '\r':
			if i+1 < len(src) && src[i+1] == '\n' {
				size++
			}
			return src[:i], i + size
		case '\n', '\u0085', '\u2028', '\u2029':
			return src[:i], i + size
		}
	}
	return src, len(src)
}

// renderYAML returns a value in the style of the one that it replaces: a string stays plain if that is safe, and keeps
// single quotes; all others are in double quotes. Lists and objects are JSON, which is YAML.
func renderYAML(v any, style yaml.Style) string {
	text, ok := v.(string)
	if !ok {
		return jsonForYAML(string(jsontext.Encode(v)))
	}
	switch {
	case style&yaml.SingleQuotedStyle != 0 && printable(text):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 && plainIsSafe(text):
		return text
	}
	return jsonForYAML(string(jsontext.Encode(text)))
}

// jsonForYAML escapes characters that JSON allows and YAML reads as line breaks or not at all.
func jsonForYAML(text string) string {
	if printable(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// printable reports whether YAML may contain all characters unescaped. It is stricter than YAML: invisible characters
// are better escaped.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) })
}

// plainIsSafe reports whether a string without quotes is that string to every YAML parser, including those of the older
// version.
func plainIsSafe(text string) bool {
	if text == "" || len(text) > 200 || !printable(text) {
		return false
	}
	if _, isText := coreValue(text).(string); !isText {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "<<", "=":
		return false
	}
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) {
		return false // numbers, dates, marks: quotes are always safe
	}
	if strings.ContainsAny(text, "#,[]{}\"'`&*!|>%@\\") || strings.HasSuffix(text, " ") || strings.HasSuffix(text, ":") {
		return false
	}
	return !strings.Contains(text, ": ")
}
