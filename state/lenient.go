package state

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/schema"
)

// Bounds of front matter that is read field by field: each field is parsed alone.
const (
	maxFields  = 1000
	maxRemarks = 10
	maxShown   = 60 // characters of a value that a remark shows
)

// decodeLenient is decodeFrontMatter for blocks that people write without a parser
// at hand. Blank lines may precede the first fence, and what is no YAML as a whole
// is read field by field. s says which fields are texts;
// nil says nothing. whole is false if the writer may not be done yet.
func decodeLenient(src []byte, s *schema.Schema) (m *matter, whole bool, err error) {
	if m, err = splitFrontMatter(src, true); err != nil {
		return nil, !errors.As(err, new(*syntaxError)), err
	}
	broken := m.decode()
	if len(m.yaml) > maxMatterSize {
		return nil, true, broken
	}
	whole = broken == nil
	if broken != nil || m.repeats() {
		if err := m.decodeFields(); err != nil {
			return nil, whole, err
		}
	}
	if s != nil && m.fields != nil {
		m.readTexts(s)
	}
	slices.SortStableFunc(m.remarks, func(a, b remark) int { return a.line - b.line })
	return m, whole, nil
}

// repeats reports whether two fields have the same name. The YAML library takes the
// last of them; YAML itself has no such blocks.
func (m *matter) repeats() bool {
	if m.fields == nil || m.fields.Style&yaml.FlowStyle != 0 {
		return false
	}
	seen := map[string]bool{}
	for i := 0; i < len(m.fields.Content); i += 2 {
		name := m.fields.Content[i].Value
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

// remark notes what was read in an unusual way, with its line in the block.
func (m *matter) remark(line int, format string, args ...any) {
	m.remarks = append(m.remarks, remark{m.line + line, fmt.Sprintf(format, args...)})
}

type remark struct {
	line    int
	message string
}

// problem lists all remarks, one a line, each behind the path and the line.
func (m *matter) problem(path string) string {
	var lines []string
	for i, r := range m.remarks {
		if i == maxRemarks {
			lines = append(lines, fmt.Sprintf("… and %d more", len(m.remarks)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s", path, r.line, r.message))
	}
	return strings.Join(lines, "\n")
}

// A rawField is the text of one field: the line of its key, and the lines below it
// that belong to it.
type rawField struct {
	key    string
	indent string
	line   int    // of the key, within the block
	at     int    // where that line begins, within the block
	colon  int    // where the colon stands, within the line
	first  []byte // the line without its break
	rest   []byte // the lines below
}

// value is what follows the colon on its line.
func (e *rawField) value() []byte { return e.first[e.colon+1:] }

// goesOn reports whether the value goes on below its line.
func (e *rawField) goesOn() bool {
	block := len(e.value()) > 0 && bytes.IndexAny(bytes.TrimLeft(e.value(), " \t"), "|>") == 0
	for rest := e.rest; len(rest) > 0; {
		line, size := cutYAMLLine(rest)
		if line = bytes.TrimSpace(line); len(line) > 0 && (block || line[0] != '#') {
			return true
		}
		rest = rest[size:]
	}
	return false
}

// decodeFields reads the block one field at a time. Of fields with the same name the
// first counts.
func (m *matter) decodeFields() error {
	fields, strays := rawFields(m.yaml)
	switch {
	case len(fields) > maxFields:
		return fmt.Errorf("has front matter of more than %d fields", maxFields)
	case len(fields) == 0:
		return errors.New("has front matter in which no line is a field (name: value)")
	case len(strays) == 1:
		m.remark(strays[0].line, "%q is no field (name: value); it is ignored", strays[0].message)
	case len(strays) > 1:
		m.remark(strays[0].line, "%q is no field (name: value); all %d such lines are ignored", strays[0].message, len(strays))
	}
	m.fields, m.value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, map[string]any{}
	reader := yamlReader{left: maxYAMLNodes}
	seen := map[string]bool{}
	for _, e := range fields {
		if seen[e.key] {
			m.remark(e.line, "there is a field %s above, which counts; this one is ignored", e.key)
			continue
		}
		seen[e.key] = true
		value := e.parse()
		v, err := any(nil), error(nil)
		if value != nil {
			v, err = reader.value(value, 0)
		}
		if value == nil || err != nil {
			text, start, end := plainText(e.value())
			// Nothing says where a text ends whose quote is not closed.
			if raw := plain(e.value()[start:end]); text == raw && strings.HasPrefix(text, `"`) || text == raw && strings.HasPrefix(text, "'") {
				m.refuse(e, start, "has a quote that is not closed: ", text)
				m.remark(e.line, "%s has a quote that is not closed; it is not read", e.key)
				continue
			}
			v, value = text, e.textNode(text, start)
			m.remark(e.line, "%s is not valid YAML; it is read as the text %q", e.key, shorten(text))
		} else if after := e.value(); strings.Contains(e.indent, "\t") || len(after) > 0 && !isBlank(after[0]) && after[0] != '\r' {
			m.remark(e.line, "%s is not valid YAML; it is read all the same", e.key)
		}
		m.fields.Content = append(m.fields.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: e.key, Line: e.line, Column: len(e.indent) + 1}, value)
		m.value[e.key] = v
	}
	return nil
}

// refuse makes a field unusable because of a text.
func (m *matter) refuse(e rawField, start int, message, text string) {
	m.unusable = append(m.unusable, schema.Violation{
		Pointer: schema.PointerOf([]any{e.key}), Line: m.line + e.line, Col: e.textNode(text, start).Column,
		Message: message + strconv.Quote(shorten(text)), Value: text,
	})
}

// rawFields cuts a block into its fields. Strays are lines that belong to none.
func rawFields(src []byte) (found []rawField, strays []remark) {
	inside, base, line := false, -1, 0
	for at := 0; at < len(src); {
		text, size := cutYAMLLine(src[at:])
		line++
		begin := at
		at += size
		blank := bytes.TrimRight(text, " \t")
		trimmed := bytes.TrimLeft(blank, " \t")
		indent := len(blank) - len(trimmed)
		switch {
		case len(trimmed) == 0, inside && (indent > base || trimmed[0] == '-' && (len(trimmed) == 1 || isBlank(trimmed[1]))):
			if inside {
				last := &found[len(found)-1]
				last.rest = src[last.at+len(last.first) : at]
			}
			continue
		case trimmed[0] == '#':
			continue
		}
		key, colon := keyOf(trimmed)
		if inside = key != ""; !inside {
			strays = append(strays, remark{line, shorten(plain(trimmed))})
			continue
		}
		if base < 0 {
			base = indent
		}
		found = append(found, rawField{key: key, indent: string(blank[:indent]), line: line, at: begin, colon: indent + colon, first: text})
	}
	return found, strays
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// keyOf returns the name that a line begins with, in quotes or not, and where the colon
// behind it is. The name is "" if the line is no field.
func keyOf(line []byte) (name string, colon int) {
	end := 0
	if line[0] == '"' || line[0] == '\'' {
		end = bytes.IndexByte(line[1:], line[0]) + 2
		name = string(line[1:max(end-1, 1)]) // "" if it is not closed
	} else {
		for end < len(line) && isNameByte(line[end]) {
			end++
		}
		name = string(line[:end])
	}
	colon = end + len(line[end:]) - len(bytes.TrimLeft(line[end:], " \t"))
	if name == "" || strings.ContainsAny(name, `"'\`) || colon == len(line) || line[colon] != ':' {
		return "", 0
	}
	return name, colon
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// parse returns the node of the value if the field is YAML when it stands alone, with
// its place in the block; nil if not.
func (e *rawField) parse() *yaml.Node {
	// A tab is allowed here, and so is a value right behind the colon.
	text := bytes.TrimLeft(e.value(), " \t")
	blanks, added := len(e.value())-len(text), 0
	switch {
	case blanks > 0 || len(text) == 0:
	case text[0] == '#':
		return nil // the blank would make it a comment
	default:
		blanks, added = 1, 1
	}
	var b bytes.Buffer
	b.WriteString(strings.Repeat(" ", len(e.indent)))
	b.Write(e.first[len(e.indent) : e.colon+1])
	b.WriteString(strings.Repeat(" ", blanks))
	b.Write(text)
	b.Write(e.rest)
	n, err := parseYAML(b.Bytes())
	if err != nil || n == nil || n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) != 2 {
		return nil
	}
	if name, ok := keyText(n.Content[0]); !ok || name != e.key {
		return nil
	}
	shift(n.Content[1], e.line-1, added)
	return n.Content[1]
}

// shift moves nodes down, and those on the first line to the left.
func shift(n *yaml.Node, lines, columns int) {
	if n.Line == 1 {
		n.Column -= columns
	}
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines, columns)
	}
}

// textNode is a text that begins so far behind the colon.
func (e *rawField) textNode(text string, start int) *yaml.Node {
	column := utf8.RuneCount(e.first[:e.colon+1+start]) + 1
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text, Line: e.line, Column: column}
}

// plainText reads what stands behind a colon as a line parser would: without one pair
// of quotes around it, and without a comment behind it. start and end are its place,
// with the quotes.
func plainText(rest []byte) (text string, start, end int) {
	trimmed := bytes.TrimLeft(rest, " \t")
	start = len(rest) - len(trimmed)
	trimmed = bytes.TrimRight(trimmed, " \t\r")
	if len(trimmed) > 1 && (trimmed[0] == '"' || trimmed[0] == '\'') {
		if last := bytes.LastIndexByte(trimmed, trimmed[0]); last > 0 && onlyComment(trimmed[last+1:]) {
			return plain(trimmed[1:last]), start, start + last + 1
		}
	}
	for i := 1; i < len(trimmed); i++ {
		if trimmed[i] == '#' && isBlank(trimmed[i-1]) {
			trimmed = bytes.TrimRight(trimmed[:i], " \t")
			break
		}
	}
	return plain(trimmed), start, start + len(trimmed)
}

// plain is text without the bytes that no text has.
func plain(b []byte) string { return strings.ReplaceAll(cleanText(string(b)), "\x00", "\ufffd") }

// readTexts gives fields that are texts by the schema the text of their line where
// YAML reads something else: a list, an alias, a tag. A value that YAML takes for a
// comment is unusable: nothing says whether it is one.
func (m *matter) readTexts(t *schema.Schema) {
	fields, _ := rawFields(m.yaml)
	for i := 0; i+1 < len(m.fields.Content); i += 2 {
		key, value := m.fields.Content[i], m.fields.Content[i+1]
		at := slices.IndexFunc(fields, func(e rawField) bool { return e.line == key.Line && e.key == key.Value })
		if at < 0 || isText(value) || fields[at].goesOn() {
			continue
		}
		e := fields[at]
		if field := t.Fields[e.key]; field == nil || field.Kind != schema.String {
			continue
		}
		text, start, _ := plainText(e.value())
		switch comment := strings.HasPrefix(text, "#"); {
		case value.Kind == yaml.ScalarNode && comment && len(text) > 1 && !isBlank(text[1]):
			delete(m.value, e.key)
			m.refuse(e, start, "# begins a comment; put it in quotes: ", text)
		case value.Kind == yaml.ScalarNode && (comment || value.Anchor == "" && value.Style == 0):
			// There is nothing.
		default:
			m.fields.Content[i+1], m.value[e.key] = e.textNode(text, start), text
		}
	}
}

// isText reports whether YAML itself reads a text, number or word here.
func isText(n *yaml.Node) bool {
	ownTag := n.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(n.Tag, "!!")
	return n.Kind == yaml.ScalarNode && n.Anchor == "" && !ownTag && (n.Style != 0 || n.Value != "")
}

func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return text
}
