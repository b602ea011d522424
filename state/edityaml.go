package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/schema"
)

// spliceFrontMatter replaces the bytes of one value, or adds one line behind its
// object. The caller decodes the result and compares: what is
// found here by looking at the text need not be proven here.
func spliceFrontMatter(src []byte, m *matter, set Set) ([]byte, error) {
	edit := yamlEdit{src: m.yaml}
	start, end, text, err := edit.splice(m, set)
	if err != nil {
		return nil, err
	}
	return slices.Concat(src[:m.offset+start], []byte(text), src[m.offset+end:]), nil
}

// A yamlEdit finds the text of nodes.
type yamlEdit struct{ src []byte }

func (e yamlEdit) splice(m *matter, set Set) (start, end int, text string, err error) {
	parent, key, value, flow := (*yaml.Node)(nil), (*yaml.Node)(nil), m.fields, false
	for i, part := range set.Path {
		parent, key = value, nil
		if parent == nil {
			return e.addLine(m, set)
		}
		if parent.Kind == yaml.AliasNode {
			return 0, 0, "", fmt.Errorf("it is shared by the alias *%s; repair it by hand", parent.Value)
		}
		flow = flow || parent.Style&yaml.FlowStyle != 0
		switch part := part.(type) {
		case string:
			key, value = ownField(parent, part)
			if key == nil && i == 0 && len(set.Path) == 1 {
				return e.addLine(m, set)
			}
			if key == nil && i == len(set.Path)-1 {
				return e.addField(m, parent, flow, set)
			}
			if key == nil {
				return 0, 0, "", errByHand
			}
		case int:
			if parent.Kind != yaml.SequenceNode || part < 0 || part >= len(parent.Content) {
				return 0, 0, "", errByHand
			}
			value = parent.Content[part]
		}
	}
	if span, ok := m.spans[value]; ok {
		start, end = span[0], span[1]
		return start, end, e.lead(start) + renderYAML(set.Value, 0, flow), nil
	}
	if value.Kind == yaml.AliasNode {
		return 0, 0, "", fmt.Errorf("it is the alias *%s; repair it by hand", value.Value)
	}
	if value.Anchor != "" {
		return 0, 0, "", fmt.Errorf("it is shared under the name &%s; repair it by hand", value.Anchor)
	}
	if value.Style&yaml.TaggedStyle != 0 {
		return 0, 0, "", fmt.Errorf("it has the tag %s; repair it by hand", value.Tag)
	}
	if start, end, err = e.span(key, value, flow); err != nil {
		return 0, 0, "", err
	}
	style := value.Style
	if value.Kind != yaml.ScalarNode {
		style = 0
	}
	text = renderYAML(set.Value, style, flow)
	if start == end { // an empty value: a blank must part it from what is before, and from a comment
		text = " " + text
	}
	return start, end, text, nil
}

// ownField gives key and value of the last field called name that stands in
// the mapping itself.
func ownField(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	if mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	value, ok := fieldOf(mapping, name)
	if !ok {
		return nil, nil
	}
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		if mapping.Content[i+1] == value {
			return mapping.Content[i], value
		}
	}
	return nil, nil
}

// addLine adds a field to the outermost mapping, in front of the closing fence.
func (e yamlEdit) addLine(m *matter, set Set) (start, end int, text string, err error) {
	name, ok := set.Path[0].(string)
	if !ok || len(set.Path) != 1 {
		return 0, 0, "", errByHand
	}
	indent := ""
	if m.fields != nil && len(m.fields.Content) > 0 {
		if m.fields.Style&yaml.FlowStyle != 0 {
			return 0, 0, "", fmt.Errorf("the fields stand in braces, so that no line can be added; repair it by hand")
		}
		indent = strings.Repeat(" ", max(m.fields.Content[0].Column-1, 0))
	}
	line := indent + renderYAML(name, 0, false) + ": " + renderYAML(set.Value, 0, false) + m.newline
	return len(e.src), len(e.src), line, nil
}

// addField adds a field to an object inside the outermost mapping, below its last line.
// An object without a field gets it in its braces.
func (e yamlEdit) addField(m *matter, parent *yaml.Node, flow bool, set Set) (start, end int, text string, err error) {
	within, name := set.Path[:len(set.Path)-1], set.Path[len(set.Path)-1].(string)
	switch {
	case parent.Kind != yaml.MappingNode:
		return 0, 0, "", errByHand
	case len(parent.Content) == 0:
		return e.splice(m, Set{Path: within, Value: map[string]any{name: set.Value}})
	case flow:
		return 0, 0, "", fmt.Errorf("no field can be added inside %s, which stands in braces; write %s: %s there by hand",
			strings.TrimPrefix(schema.PointerOf(within), "/"), renderYAML(name, 0, true), renderYAML(set.Value, 0, true))
	}
	column := parent.Content[0].Column - 1
	if start, err = e.offset(parent.Content[0]); err != nil {
		return 0, 0, "", err
	}
	for at := start; at < len(e.src); {
		line, size := cutYAMLLine(e.src[at:])
		text := bytes.TrimLeft(line, " ")
		switch indent := len(line) - len(text); {
		case len(bytes.TrimSpace(text)) == 0 || at != start && text[0] == '#':
		case at != start && indent < column:
			at = len(e.src) // the object ends above
			continue
		default:
			end = at + size
		}
		at += size
	}
	line := strings.Repeat(" ", column) + renderYAML(name, 0, false) + ": " + renderYAML(set.Value, 0, false) + m.newline
	return end, end, line, nil
}

// span finds the bytes of a value that stands on one line.
func (e yamlEdit) span(key, value *yaml.Node, flow bool) (start, end int, err error) {
	if value.Kind == yaml.ScalarNode && value.Style == 0 && value.Value == "" {
		return e.emptySpan(key)
	}
	if start, err = e.offset(value); err != nil {
		return 0, 0, err
	}
	line, _ := cutYAMLLine(e.src[start:])
	size := 0
	switch {
	case value.Kind != yaml.ScalarNode && value.Style&yaml.FlowStyle != 0:
		size = flowSize(line)
	case value.Kind != yaml.ScalarNode:
		return 0, 0, fmt.Errorf("its value is a list or an object over several lines; repair it by hand")
	case value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, 0, fmt.Errorf("its value is a block of text; repair it by hand")
	case value.Style&yaml.DoubleQuotedStyle != 0:
		size = quotedSize(line, '"')
	case value.Style&yaml.SingleQuotedStyle != 0:
		size = quotedSize(line, '\'')
	case bytes.HasPrefix(line, []byte(value.Value)):
		size = len(value.Value)
	}
	if size <= 0 {
		return 0, 0, fmt.Errorf("its value goes over several lines; repair it by hand")
	}
	if !flow && !onlyComment(line[size:]) {
		return 0, 0, errByHand
	}
	return start, start + size, nil
}

// emptySpan is the spot behind the colon of a key without value.
func (e yamlEdit) emptySpan(key *yaml.Node) (start, end int, err error) {
	_, at, err := e.behind(key)
	return at, at, err
}

// lead is what must stand before a value that is put at this place.
func (e yamlEdit) lead(at int) string {
	if at > 0 && e.src[at-1] == ':' {
		return " "
	}
	return ""
}

// behind gives the places of a key and of what follows its colon.
func (e yamlEdit) behind(key *yaml.Node) (start, at int, err error) {
	if key == nil || key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 {
		return 0, 0, errByHand
	}
	if start, err = e.offset(key); err != nil {
		return 0, 0, err
	}
	line, _ := cutYAMLLine(e.src[start:])
	size := 0
	switch {
	case key.Style&yaml.DoubleQuotedStyle != 0:
		size = quotedSize(line, '"')
	case key.Style&yaml.SingleQuotedStyle != 0:
		size = quotedSize(line, '\'')
	case bytes.HasPrefix(line, []byte(key.Value)):
		size = len(key.Value)
	}
	colon := bytes.IndexByte(line[size:], ':')
	if size <= 0 || colon < 0 || len(bytes.TrimLeft(line[size:size+colon], " \t")) != 0 {
		return 0, 0, errByHand
	}
	return start, start + size + colon + 1, nil
}

// onlyComment reports whether nothing stands behind a value but blanks and a
// comment.
func onlyComment(tail []byte) bool {
	rest := bytes.TrimLeft(tail, " \t")
	return len(rest) == 0 || (rest[0] == '#' && len(rest) < len(tail))
}

// offset turns line and column of a node, which count characters, into bytes.
func (e yamlEdit) offset(n *yaml.Node) (int, error) {
	at := 0
	for line := 1; line < n.Line; line++ {
		_, size := cutYAMLLine(e.src[at:])
		if size == 0 {
			return 0, errByHand
		}
		at += size
	}
	for column := 1; column < n.Column; column++ {
		if at >= len(e.src) {
			return 0, errByHand
		}
		_, size := utf8.DecodeRune(e.src[at:])
		at += size
	}
	if at >= len(e.src) {
		return 0, errByHand
	}
	return at, nil
}

// cutYAMLLine is cutLine for the line breaks that the YAML library counts:
// besides \n and \r\n also a lone \r, and three of Unicode.
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

// quotedSize is the size of the quoted text that line begins with, or 0 if it
// does not end on the line.
func quotedSize(line []byte, quote byte) int {
	if len(line) == 0 || line[0] != quote {
		return 0
	}
	for i := 1; i < len(line); i++ {
		switch {
		case quote == '"' && line[i] == '\\':
			i++
		case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return i + 1
		}
	}
	return 0
}

// flowSize is the size of the list or object in brackets that line begins
// with, or 0 if it does not end on the line.
func flowSize(line []byte) int {
	depth := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"', '\'':
			// A quote inside a plain word is no quote.
			if i > 0 && bytes.IndexByte([]byte("[{,: \t"), line[i-1]) >= 0 {
				size := quotedSize(line[i:], line[i])
				if size == 0 {
					return 0
				}
				i += size - 1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// renderYAML writes a value in the style of the one that it replaces: text
// stays plain if it is safe, and keeps single quotes; all else is in double
// quotes. Lists and objects are written as JSON, which is YAML.
func renderYAML(v any, style yaml.Style, flow bool) string {
	text, ok := v.(string)
	if !ok {
		return jsonForYAML(string(jsonedit.Encode(v)))
	}
	switch {
	case style&yaml.SingleQuotedStyle != 0 && printable(text):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 && plainIsSafe(text):
		return text
	}
	return jsonForYAML(string(jsonedit.Encode(text)))
}

// jsonForYAML escapes the characters that JSON allows raw and YAML reads as
// line breaks or not at all.
func jsonForYAML(text string) string {
	if printable(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case printableRune(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

func printable(text string) bool {
	for _, r := range text {
		if !printableRune(r) {
			return false
		}
	}
	return true
}

// printableRune reports whether a character may stand in YAML as itself. It is
// stricter than YAML: what cannot be seen is better escaped.
func printableRune(r rune) bool { return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// plainIsSafe reports whether text can stand without quotes and mean itself to
// every reader of YAML, also to those that follow the older version.
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
		return false // numbers, dates, marks: quotes cost nothing
	}
	if strings.ContainsAny(text, "#,[]{}\"'`&*!|>%@\\") || strings.HasSuffix(text, " ") || strings.HasSuffix(text, ":") {
		return false
	}
	return !strings.Contains(text, ": ")
}
